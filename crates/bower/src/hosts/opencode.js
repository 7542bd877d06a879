// Written by `bower setup opencode`; `bower setup opencode --remove` takes it out again.
// Gives a session what Bowerbird knows, and Bowerbird what was found out in it. Whatever fails, opencode goes on.
import { spawn } from "node:child_process";

const CALL = ["bower", "hook"];

function hook(event, input) {
  return new Promise((done) => {
    try {
      const child = spawn(CALL[0], [...CALL.slice(1), event, "--host", "HOST"], { stdio: ["pipe", "pipe", "ignore"] });
      const timer = setTimeout(() => child.kill(), 10_000);
      let out = "";
      child.stdout.on("data", (data) => (out += data));
      child.on("error", () => { clearTimeout(timer); done(""); });
      child.on("close", () => {
        clearTimeout(timer);
        try {
          done(JSON.parse(out).hookSpecificOutput.additionalContext);
        } catch {
          done("");
        }
      });
      child.stdin.on("error", () => {});
      child.stdin.end(JSON.stringify(input));
    } catch {
      done("");
    }
  });
}

function words(parts) {
  const said = (parts ?? []).filter((part) => part.type === "text" && !part.synthetic && part.text);
  return said.map((part) => part.text).join("\n");
}

export const Bowerbird = async ({ client, directory }) => {
  // What each session was given: it stays in its system prompt, for it is given once.
  const given = new Map();

  async function transcript(session) {
    const { data } = await client.session.messages({ path: { id: session } });
    const turns = (data ?? []).map(({ info, parts }) => ({ role: info.role, content: words(parts) }));
    return turns.filter((turn) => turn.content).map((turn) => ({ ...turn, session_id: session }));
  }

  async function keep(event, session) {
    try {
      const messages = await transcript(session);
      await hook(event, { session_id: session, cwd: directory, messages });
    } catch {}
  }

  return {
    "chat.message": async ({ sessionID }, { parts }) => {
      const said = { session_id: sessionID, cwd: directory };
      const blocks = given.get(sessionID) ?? [];
      if (!given.has(sessionID)) {
        given.set(sessionID, blocks);
        blocks.push(await hook("session-start", { ...said, source: "startup" }));
      }
      blocks.push(await hook("user-prompt", { ...said, prompt: words(parts) }));
    },
    "experimental.chat.system.transform": async ({ sessionID }, { system }) => {
      system.push(...(given.get(sessionID) ?? []).filter(Boolean));
    },
    "experimental.session.compacting": async ({ sessionID }) => {
      await keep("pre-compact", sessionID);
    },
    event: async ({ event }) => {
      if (event.type === "session.idle") await keep("stop", event.properties.sessionID);
      if (event.type === "session.deleted") given.delete(event.properties.info?.id);
    },
  };
};
