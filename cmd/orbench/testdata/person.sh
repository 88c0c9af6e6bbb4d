# What the tutorial asks of a person, for the test of its commands and for
# scripts/pictures.sh: to label answers, and to look at pages. The simulated model quotes
# the question where it answers.
orbench() {
	if [[ "$*" == "label before --as ana" ]]; then
		# A step is drawn in two parts.
		for part in 1 2; do
			command orbench label before --as ana </dev/null >/dev/null
			rm -f drawn.jsonl labeled.jsonl
			command orbench label export before --as ana --out drawn.jsonl
			sed -E '
				/"answer":"([^"\\]|\\[^"])*","class"/ s/"class":"","by":""/"class":"refusal","by":"ana"/
				s/"class":"","by":""/"class":"full_answer","by":"ana"/' drawn.jsonl >labeled.jsonl
			command orbench label import before labeled.jsonl
		done
	elif [[ $1 == serve ]]; then
		command orbench "$@" --addr 127.0.0.1:0 >served &
		until grep http served; do
			kill -0 $!
			sleep 0.1
		done
		kill $!
		wait $! || true
	else
		command orbench "$@"
	fi
}
