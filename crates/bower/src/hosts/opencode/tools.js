
// Gives what Bowerbird knows of a file together with what a tool says of it. Whatever fails, opencode goes on.
export const BowerbirdTools = async ({ directory }) => ({
  "tool.execute.after": async ({ tool, sessionID, args }, said) => {
    try {
      const used = { session_id: sessionID, cwd: directory, tool_name: tool, tool_input: args };
      const text = typeof said.output === "string" ? await hook("tool-use", used) : "";
      if (text) said.output += `\n${text}`;
    } catch {}
  },
});
