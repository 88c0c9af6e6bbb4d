#!/usr/bin/env bash
# A step of action.yml: puts the job's summary on the pull request as a comment, in place of
# its own of an earlier push. What goes wrong is a warning: the figures and the gates stand.
set -euo pipefail

# leave KIND TITLE MESSAGE ends the step with an annotation.
leave() {
	echo "::$1 title=$2::$3"
	exit
}

[[ ${ORBENCH_COMMENT:-} == true && -s ${ORBENCH_SUMMARY:-} ]] || exit 0
issue=$(jq -r '.pull_request.number // empty' "$GITHUB_EVENT_PATH")
[[ -n $issue ]] || leave notice 'No comment' "the event $GITHUB_EVENT_NAME is of no pull request"
reply=$(mktemp "$RUNNER_TEMP/orbench-reply.XXXXXX")

# api METHOD PATH [FILE] asks GitHub, with a body of JSON, and leaves what it says in $reply.
# The token is not in the arguments, which every process of the machine can read.
api() {
	local status retry=3
	[[ $1 != POST ]] || retry=0 # one that came through would be made twice
	status=$(curl -sS --retry "$retry" -o "$reply" -w '%{http_code}' -X "$1" -K - -H 'Accept: application/vnd.github+json' \
		-H 'X-GitHub-Api-Version: 2022-11-28' ${3:+--data-binary "@$3"} "$GITHUB_API_URL/$2" <<<"header = \"Authorization: Bearer $ORBENCH_TOKEN\"") &&
		[[ $status == 2* ]]
}

# One comment for each target and dataset. Only a comment of one's own is changed: another
# person's could be changed again by that person. The token of a workflow has no user.
marker="<!-- orbench $(printf '%s\n' "$ORBENCH_TARGET" "$ORBENCH_DATASET" | cksum | cut -d ' ' -f 1) -->"
me='github-actions[bot]'
if api GET user; then me=$(jq -r .login "$reply"); fi
mine=
for ((page = 1; ; page++)); do
	api GET "repos/$GITHUB_REPOSITORY/issues/$issue/comments?per_page=100&page=$page" ||
		leave warning 'No comment' "the comments of pull request $issue cannot be read: $(jq -r '.message // empty' "$reply" 2>/dev/null); give the job the permission pull-requests: write"
	mine=$(jq -r --arg marker "$marker" --arg me "$me" '[.[] | select(.user.login == $me and (.body | startswith($marker))) | .id][0] // empty' "$reply")
	[[ -z $mine && $(jq length "$reply") == 100 ]] || break
done

# GitHub takes 65,536 characters. An @ or # of a prompt or an answer must not call a person
# or link an issue: a character without width parts it from what follows.
body=$(mktemp "$RUNNER_TEMP/orbench-body.XXXXXX")
jq -Rs --arg marker "$marker" '
	gsub("@"; "@\u200b") | gsub("#(?<digit>[0-9])"; "#\u200b\(.digit)")
	| {body: ($marker + "\n" + if length > 60000 then .[:60000] + "\n\n… the rest is in the summary of the job." else . end)}' "$ORBENCH_SUMMARY" >"$body"
if [[ -n $mine ]]; then
	api PATCH "repos/$GITHUB_REPOSITORY/issues/comments/$mine" "$body"
else
	api POST "repos/$GITHUB_REPOSITORY/issues/$issue/comments" "$body"
fi || leave warning 'No comment' "GitHub takes no comment: $(jq -r '.message // empty' "$reply" 2>/dev/null); give the job the permission pull-requests: write, which a pull request from a fork does not get"
echo "comment: $(jq -r .html_url "$reply")"
