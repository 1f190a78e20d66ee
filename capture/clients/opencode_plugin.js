// nmem: tells the memory what happens here. It never waits, never throws and changes nothing.
import { spawn } from "node:child_process"

const COMMAND = __NMEM_COMMAND__
const LIMIT_MS = 20000
const parents = new Map() // a subagent's session -> the session it works for
const models = new Map() // session -> model
const texts = new Map() // session -> the last text that the assistant finished
const asked = new Set() // messages of the user: their parts are not the assistant's

function send(event, payload) {
  try {
    const [program, ...args] = COMMAND
    const child = spawn(program, [...args, "opencode", event], { stdio: ["pipe", "ignore", "ignore"], windowsHide: true })
    const timer = setTimeout(() => child.kill(), LIMIT_MS)
    timer.unref?.()
    child.on("error", () => clearTimeout(timer))
    child.on("exit", () => clearTimeout(timer))
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify({ hook_event_name: event, timestamp: new Date().toISOString(), ...payload }))
    child.unref()
  } catch {}
}

export const Nmem = async ({ directory, worktree }) => {
  const base = (session) => {
    const parent = parents.get(session)
    const own = { session_id: parent ?? session, cwd: directory, project_dir: worktree || directory }
    if (models.has(session)) own.model = models.get(session)
    if (parent) own.agent_id = session
    return own
  }
  const forget = (session) => [parents, models, texts].forEach((kept) => kept.delete(session))

  const bus = {
    "session.created": ({ info }) => {
      if (info.parentID) parents.set(info.id, parents.get(info.parentID) ?? info.parentID)
      else send("session.created", { ...base(info.id), source: "startup", client_version: info.version })
    },
    "session.deleted": ({ info }) => {
      if (!parents.has(info.id)) send("session.deleted", { ...base(info.id), reason: "deleted" })
      forget(info.id)
    },
    "session.compacted": ({ sessionID }) => send("session.compacted", base(sessionID)),
    "session.error": ({ sessionID, error }) => {
      if (sessionID) send("session.error", { ...base(sessionID), reason: error?.name ?? "error" })
    },
    "session.idle": ({ sessionID }) => {
      const event = parents.has(sessionID) ? "subagent.idle" : "session.idle"
      send(event, { ...base(sessionID), text: texts.get(sessionID) ?? "" })
      texts.delete(sessionID)
      asked.clear()
    },
    "message.part.updated": ({ part }) => {
      if (part.type === "text" && part.time?.end && !part.synthetic && !asked.has(part.messageID))
        texts.set(part.sessionID, part.text)
      // tool.execute.after is not called for a tool that threw
      if (part.type === "tool" && part.state?.status === "error")
        send("tool.execute.error", {
          ...base(part.sessionID),
          tool_name: part.tool,
          tool_use_id: part.callID,
          tool_input: part.state.input,
          error: String(part.state.error ?? ""),
          duration_ms: part.state.time?.end - part.state.time?.start,
        })
    },
  }

  return {
    event: async ({ event }) => {
      try {
        bus[event.type]?.(event.properties)
      } catch {}
    },
    "chat.message": async (input, output) => {
      try {
        const model = input.model ?? output.message.model
        if (model?.modelID) models.set(input.sessionID, model.modelID)
        asked.add(output.message.id)
        const said = output.parts.filter((part) => part.type === "text" && !part.synthetic)
        // what a subagent is asked is the tool's input, not something the user said
        if (said.length && !parents.has(input.sessionID))
          send("chat.message", {
            ...base(input.sessionID),
            turn_id: output.message.id,
            prompt: said.map((part) => part.text).join("\n"),
          })
      } catch {}
    },
    "tool.execute.after": async (input, output) => {
      try {
        send("tool.execute.after", {
          ...base(input.sessionID),
          tool_name: input.tool,
          tool_use_id: input.callID,
          tool_input: input.args,
          tool_response: { title: output.title, output: output.output, metadata: output.metadata },
        })
      } catch {}
    },
  }
}
