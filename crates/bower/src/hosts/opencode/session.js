
// Gives a session what Bowerbird knows, and Bowerbird what was found out in it. Whatever fails, opencode goes on.
function words(parts) {
  const said = (parts ?? []).filter((part) => part.type === "text" && !part.synthetic && part.text);
  const text = said.map((part) => part.text).join("\n");
  // `opencode run` puts a prompt of several words between quotes.
  return /^"[^"]*"$/.test(text) ? text.slice(1, -1) : text;
}

export const Bowerbird = async ({ client, directory }) => {
  // Sessions that this process has told the briefing, and those that have lost it since; whoever continues one of these knows it
  // from the store.
  const begun = new Set();
  const compacted = new Set();

  async function give(sessionID, message, parts) {
    const said = { session_id: sessionID, cwd: directory };
    const given = [];
    if (!begun.has(sessionID)) {
      begun.add(sessionID);
      // A session that goes on is told what it was not told yet: of a new one that is everything.
      const source = compacted.delete(sessionID) ? "compact" : "resume";
      given.push(await hook("session-start", { ...said, source }));
    }
    given.push(await hook("user-prompt", { ...said, prompt: words(parts) }));
    const text = given.filter(Boolean).join("\n");
    const last = parts.at(-1)?.id;
    // What is given stays with the prompt, so that the session has it whoever continues it. Parts are ordered by their ids. It
    // is ignored but where the agent itself is asked: a session's title is no matter of it.
    if (text && last) {
      const ours = { type: "text", synthetic: true, ignored: true, text };
      parts.push({ id: `${last}0`, sessionID, messageID: message.id, ...ours });
    }
  }

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
    "chat.message": async ({ sessionID }, { message, parts }) => {
      try {
        await give(sessionID, message, parts);
      } catch {}
    },
    "experimental.chat.messages.transform": async (_, { messages }) => {
      for (const part of messages?.flatMap((message) => message.parts ?? []) ?? []) {
        if (part.synthetic && part.ignored && part.text?.startsWith("<bowerbird>")) part.ignored = false;
      }
    },
    "experimental.session.compacting": async ({ sessionID }) => {
      await keep("pre-compact", sessionID);
    },
    event: async ({ event }) => {
      if (event.type === "session.idle") await keep("stop", event.properties.sessionID);
      if (event.type === "session.compacted") {
        begun.delete(event.properties.sessionID);
        compacted.add(event.properties.sessionID);
      }
      if (event.type === "session.deleted") {
        begun.delete(event.properties.info?.id);
        compacted.delete(event.properties.info?.id);
      }
    },
  };
};
