#!/bin/sh
# Tries MCP clients that others wrote with both programs: each lists the tools and
# goes through a whole story (story.json) in which an operator decides meanwhile,
# and what it hands on is compared with what the server said, byte for byte.
# Claude Code also has to find each tool by what a support person would say
# (phrasings.tsv), and to keep the deny rules that `connect` wrote.
#
#   evals/clients/check.sh DIR
#
# DIR is a folder where these were installed with npm; what is missing is skipped:
#   npm install --prefix DIR @modelcontextprotocol/sdk @modelcontextprotocol/client \
#     @modelcontextprotocol/inspector @anthropic-ai/claude-code @openai/codex
#
# No account and no model is needed: Claude Code and Codex talk to a stand-in on
# this machine. Every client has an empty home. Exit code: 0, or 1 if something failed.
set -u
[ $# -eq 1 ] || { echo "usage: $0 DIR" >&2; exit 2; }
mkdir -p "$1" && clients=$(cd "$1" && pwd) || exit 2
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

(cd "$root" && go build -o "$work/bin/" ./cmd/...) || exit 1
mkdir "$work/home"

# A client sees the home, the path and nothing of this shell.
clean() { env -i HOME="$work/home" TMPDIR="$work" PATH="/usr/local/bin:/usr/bin:/bin" TERM=dumb "$@"; }
skip() { echo "skip  $1: $2"; }

# try NAME COMMAND… reports whether a command succeeds and its last line, or all of
# its output if it fails.
try() {
	name=$1
	shift
	if "$@" >"$work/output" 2>&1; then
		echo "ok    $name: $(tail -n 1 "$work/output")"
	else
		echo "FAIL  $name"
		sed 's/^/      /' "$work/output"
		failed=1
	fi
}

# has NAME FILE reports whether a client is there.
has() { [ -e "$2" ] || { skip "$1" "it isn't in $clients"; return 1; }; }

modules=$clients/node_modules
connect() { clean "$work/bin/countersign" connect "$1" --demo --db "$work/demo.db" --customer C-1001; }

if ! command -v node >/dev/null; then
	skip "npm clients" "there is no node here"
else
	if has "TypeScript SDK 1" "$modules/@modelcontextprotocol/sdk"; then
		try "TypeScript SDK 1" clean node "$here/sdk.mjs" "$clients" "$work/bin" v1
	fi
	if has "TypeScript SDK 2" "$modules/@modelcontextprotocol/client"; then
		for mode in legacy auto 2024-11-05 2025-03-26 2025-06-18 2025-11-25 2026-07-28; do
			try "TypeScript SDK 2, $mode" clean node "$here/sdk.mjs" "$clients" "$work/bin" $mode
		done
	fi
	if has "Inspector" "$modules/.bin/mcp-inspector"; then
		try "Inspector" clean node "$here/inspector.mjs" "$modules/.bin/mcp-inspector" "$work/bin"
	fi
	claude=$modules/.bin/claude
	if has "Claude Code" "$claude"; then
		try "Claude Code" clean node "$here/claude.mjs" "$claude" "$work/bin"
		if command -v tmux >/dev/null; then
			try "Claude Code, terminal" clean node "$here/terminal.mjs" "$claude" "$work/bin"
		else
			skip "Claude Code, terminal" "there is no tmux here"
		fi
		try "Claude Code, connected" connect claude-code
		try "Claude Code, tool search" clean node "$here/search.mjs" "$claude" "$here/phrasings.tsv"
		try "Claude Code, deny rules" clean node "$here/deny.mjs" "$claude" "$work/bin"
	fi
	codex=$modules/.bin/codex
	if has "Codex" "$codex"; then
		try "Codex" clean node "$here/codex.mjs" "$codex" "$work/bin"
		try "Codex, connected" connect codex
		try "Codex, configuration" clean node "$here/codex.mjs" "$codex"
	fi
fi

if (cd "$here/mcpgo" && go build -o "$work/mcpgo" .) >"$work/output" 2>&1; then
	for version in 2024-11-05 2025-03-26 2025-06-18 2025-11-25 2026-07-28; do
		try "mcp-go, $version" clean "$work/mcpgo" "$here/story.json" "$work/bin" $version
	done
else
	skip "mcp-go" "it can't be built here: $(tail -n 1 "$work/output")"
fi
exit $failed
