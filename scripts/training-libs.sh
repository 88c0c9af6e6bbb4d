#!/usr/bin/env bash
# Puts the Python libraries that what orbench writes is tested with into a virtual
# environment outside of the project: the datasets library, which opens training data
# (and brings pandas), DuckDB, Jinja, which renders the chat templates of guards, and with
# `trl` TRL too, which trains on it (and brings PyTorch: several GB). `tools` has an
# environment of its own, of Python 3.12: the tools whose formats --out writes, and SciPy, by
# which scripts/audit computes figures again.
set -euo pipefail

readonly DATASETS='datasets==5.2.0'
readonly DUCKDB='duckdb==2.0.0'
readonly JINJA='jinja2==3.1.6'
readonly TRL='trl==1.16.0'
readonly INSPECT='inspect_ai==0.3.285'
readonly EEE='every_eval_ever==0.3.0'
readonly SCIPY='scipy==1.18.1'
readonly EXIT_FAILED=1 EXIT_USAGE=2 EXIT_UNAVAILABLE=3

dir=${ORBENCH_TRAINING_LIBS_DIR:-${XDG_CACHE_HOME:-${HOME:?set HOME or ORBENCH_TRAINING_LIBS_DIR}/.cache}/orbench/training-libs}

say() { printf 'training-libs: %s\n' "$*" >&2; }

# install MARK REQUIREMENT… puts packages into the environment, once.
install() {
	local mark=$dir/.has-$1
	shift
	[[ -e $mark ]] && return
	mkdir -p "$dir"
	if [[ ! -e $dir/.complete ]]; then
		python3 -m venv --clear "$dir/venv" >"$dir/install.log" 2>&1 || {
			say "python3 cannot make a virtual environment; install venv and pip (Debian: apt-get install python3-venv)"
			exit "$EXIT_UNAVAILABLE"
		}
		touch "$dir/.complete"
	fi
	say "installing $* with pip"
	"$dir/venv/bin/python" -m pip install --no-input --quiet --disable-pip-version-check "$@" >"$dir/install.log" 2>&1 || {
		tail -n 3 "$dir/install.log" >&2
		say "pip cannot install $*; is a package index reachable, and Python 3.10 or newer? All its words are in $dir/install.log"
		exit "$EXIT_UNAVAILABLE"
	}
	touch "$mark"
}

# newer_python prints a Python of version 3.12 or newer.
newer_python() {
	local one
	for one in python3.13 python3.12 python3; do
		if "$one" -c 'import sys; sys.exit(sys.version_info < (3, 12))' 2>/dev/null; then
			"$one" -c 'import sys; print(sys.executable)'
			return
		fi
	done
	for one in "${PYENV_ROOT:-${HOME-}/.pyenv}"/versions/3.1[2-9]*/bin/python; do
		if [[ -x $one ]]; then
			printf '%s\n' "$one"
			return
		fi
	done
	say 'no Python 3.12 or newer, which every_eval_ever needs'
	exit "$EXIT_UNAVAILABLE"
}

# tools puts Inspect, Every Eval Ever, pandas, DuckDB and SciPy into an environment of their own.
tools() {
	local mark=$dir/.has-tools python
	[[ -e $mark ]] && "$dir/tools/bin/python" -c 'import scipy' 2>/dev/null && return
	mkdir -p "$dir"
	python=$(newer_python)
	say "installing $INSPECT and $EEE with pip"
	{ "$python" -m venv --clear "$dir/tools" && "$dir/tools/bin/python" -m pip install --no-input --quiet --disable-pip-version-check "$INSPECT" "$EEE" pandas==3.1.1 pyarrow==26.0.1 "$DUCKDB" "$SCIPY"; } >"$dir/install.log" 2>&1 || {
		tail -n 3 "$dir/install.log" >&2
		say "pip cannot install $INSPECT and $EEE; all its words are in $dir/install.log"
		exit "$EXIT_UNAVAILABLE"
	}
	touch "$mark"
}

case ${1-} in
tools) tools ;;
datasets)
	install datasets "$DATASETS"
	install duckdb "$DUCKDB"
	install jinja "$JINJA"
	;;
trl) install trl "$DATASETS" "$TRL" ;;
env)
	[[ ! -e $dir/.has-tools ]] || printf 'ORBENCH_TOOLS_PYTHON=%s\n' "$dir/tools/bin/python"
	[[ -e $dir/.has-datasets || -e $dir/.has-trl ]] || {
		say 'not installed; install it with: make training-libs'
		exit "$EXIT_FAILED"
	}
	printf 'ORBENCH_TRAINING_PYTHON=%s\n' "$dir/venv/bin/python"
	;;
*)
	cat >&2 <<USAGE
Usage: training-libs.sh datasets|trl|tools|env

  datasets  install the datasets library, DuckDB and Jinja (about 450 MB)
  trl       install TRL too, with PyTorch (about 6 GB)
  tools     install Inspect, Every Eval Ever, pandas, DuckDB and SciPy (about 750 MB)
  env       print ORBENCH_TRAINING_PYTHON=… and ORBENCH_TOOLS_PYTHON=…, for tests

ORBENCH_TRAINING_LIBS_DIR is the folder for all of it (default
~/.cache/orbench/training-libs); removing it undoes it. Exit codes: 0 done, 1 not
installed, 2 bad usage, 3 cannot be had on this machine.
USAGE
	exit "$EXIT_USAGE"
	;;
esac
