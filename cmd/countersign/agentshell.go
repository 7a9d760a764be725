package main

import "slices"

// agentMarks are variables that coding agents set in the shells they run.
var agentMarks = []string{"CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CODEX_SANDBOX", "CODEX_THREAD_ID", "CURSOR_AGENT", "GEMINI_CLI", "OPENCODE"}

func isAgentMark(name string) bool { return slices.Contains(agentMarks, name) }

// inAgentShell reports whether an agent seems to run this program.
func (a *app) inAgentShell() bool {
	return slices.ContainsFunc(agentMarks, func(name string) bool { return a.env(name) != "" })
}
