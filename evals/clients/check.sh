#!/bin/sh
# Tries MCP clients that others wrote with both programs: whether they connect,
# list the seven tools and get an answer, and whether Claude Code's tool search
# finds each tool by what a support person would say (phrasings.tsv).
#
#   evals/clients/check.sh DIR
#
# DIR is a folder where these were installed with npm; what is missing is skipped:
#   npm install --prefix DIR @modelcontextprotocol/sdk @modelcontextprotocol/inspector \
#     @anthropic-ai/claude-code @openai/codex
#
# No account and no model is needed: Claude Code talks to a stand-in on this
# machine. Every client has an empty home. Exit code: 0, or 1 if something failed.
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
clean() { env -i HOME="$work/home" PATH="/usr/local/bin:/usr/bin:/bin" TERM=dumb "$@"; }
skip() { echo "skip  $1: $2"; }

# try NAME COMMAND… reports whether a command succeeds, with its output if not.
try() {
	name=$1
	shift
	if "$@" >"$work/output" 2>&1; then
		echo "ok    $name"
	else
		echo "FAIL  $name"
		sed 's/^/      /' "$work/output"
		failed=1
	fi
}

set -- "$work/bin/countersign-mcp" --demo --db "$work/demo.db" --customer C-1001

if ! command -v node >/dev/null; then
	skip "npm clients" "there is no node here"
else
	if [ -d "$clients/node_modules/@modelcontextprotocol/sdk" ]; then
		try "TypeScript SDK" clean node "$here/sdk.mjs" "$clients" "$@"
	else
		skip "TypeScript SDK" "it isn't in $clients"
	fi
	inspector=$clients/node_modules/.bin/mcp-inspector
	if [ -x "$inspector" ]; then
		try "Inspector" clean "$inspector" --cli "$@" --method tools/list --strict
	else
		skip "Inspector" "it isn't in $clients"
	fi
	claude=$clients/node_modules/.bin/claude
	if [ -x "$claude" ]; then
		try "Claude Code, connected" clean "$work/bin/countersign" connect claude-code --demo --db "$work/demo.db" --customer C-1001
		try "Claude Code, tool search" clean node "$here/claude.mjs" "$claude" "$here/phrasings.tsv"
	else
		skip "Claude Code" "it isn't in $clients"
	fi
	codex=$clients/node_modules/.bin/codex
	if [ -x "$codex" ]; then
		try "Codex, connected" clean "$work/bin/countersign" connect codex --demo --db "$work/demo.db" --customer C-1001
		# Codex lists what it read; it starts servers in conversations alone.
		try "Codex, configuration" sh -c 'env -i HOME="$1" PATH=/usr/local/bin:/usr/bin:/bin "$2" mcp get countersign | grep -- "--customer C-1001"' sh "$work/home" "$codex"
	else
		skip "Codex" "it isn't in $clients"
	fi
fi

if (cd "$here/mcpgo" && go build -o "$work/mcpgo" .) >"$work/output" 2>&1; then
	try "mcp-go" clean "$work/mcpgo" "$@"
else
	skip "mcp-go" "it can't be built here: $(tail -n 1 "$work/output")"
fi
exit $failed
