// nmem: tells the memory what happens here, and the model what the memory knows. It never throws and decides nothing.
import { spawn } from "node:child_process"

const COMMAND = __NMEM_COMMAND__
const LIMIT_MS = 20000
const PATIENCE_MS = 3000 // for an answer: it mostly comes within a tenth of a second
const parents = new Map() // a subagent's session -> the session it works for
const models = new Map() // session -> model
const texts = new Map() // session -> the last text that the assistant finished
const tokens = new Map() // session -> how full the context was after the last answer
const starts = new Map() // session of the person, since this plugin was loaded -> what its start is told
const calls = new Map() // tool call -> when it began
const asked = new Set() // messages of the user: their parts are not the assistant's
const OWN = { type: "text", synthetic: true } // the user is not shown it

/** Starts the hook; what it answers, if `listen`, at the latest after PATIENCE_MS. */
function send(event, payload, listen) {
  return new Promise((done) => {
    try {
      const [program, ...args] = COMMAND
      const out = listen ? "pipe" : "ignore"
      const child = spawn(program, [...args, "opencode", event], { stdio: ["pipe", out, "ignore"], windowsHide: true })
      const limit = setTimeout(() => child.kill(), LIMIT_MS)
      limit.unref?.()
      let said = ""
      child.stdout?.setEncoding("utf8").on("data", (part) => (said += part))
      child.on("error", () => (clearTimeout(limit), done("")))
      child.on("close", () => (clearTimeout(limit), done(answer(said))))
      child.stdin.on("error", () => {})
      child.stdin.end(JSON.stringify({ hook_event_name: event, timestamp: new Date().toISOString(), ...payload }))
      if (listen) setTimeout(() => done(""), PATIENCE_MS).unref?.()
      else child.unref()
    } catch {
      done("")
    }
  })
}

/** What a promise gives, at the latest after so long, or `otherwise`. */
function within(promise, ms, otherwise) {
  let limit
  const over = new Promise((done) => (limit = setTimeout(() => done(otherwise), ms)))
  return Promise.race([promise, over]).finally(() => clearTimeout(limit))
}

function answer(said) {
  try {
    return JSON.parse(said).additionalContext ?? ""
  } catch {
    return ""
  }
}

export const Nmem = async ({ client, directory, worktree }) => {
  // without a repository the worktree is the root of the file system
  const project = worktree && worktree !== "/" ? worktree : directory
  const base = (session) => {
    const parent = parents.get(session)
    const own = { session_id: parent ?? session, cwd: directory, project_dir: project }
    if (models.has(session)) own.model = models.get(session)
    if (parent) own.agent_id = session
    return own
  }
  const forget = (session) => [parents, models, texts, tokens, starts].forEach((kept) => kept.delete(session))
  const begin = (session, more) => starts.set(session, send("session.created", { ...base(session), ...more }, true))
  const of = (info) => parents.set(info.id, parents.get(info.parentID) ?? info.parentID)

  /** A session that was there before this plugin was loaded is resumed; or it is a subagent's. */
  const meet = async (session) => {
    if (starts.has(session) || parents.has(session)) return
    const asking = client?.session?.get({ path: { id: session } }).catch(() => {})
    const known = await within(asking, PATIENCE_MS / 3)
    if (known?.data?.parentID) of(known.data)
    else begin(session, { source: "resume", client_version: known?.data?.version })
  }

  const bus = {
    "session.created": ({ info }) => {
      if (info.parentID) of(info)
      else begin(info.id, { source: "startup", client_version: info.version })
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
      send(event, { ...base(sessionID), text: texts.get(sessionID) ?? "", context_tokens: tokens.get(sessionID) })
      texts.delete(sessionID)
      asked.clear()
      calls.clear()
    },
    "message.updated": ({ info }) => {
      const used = info.role === "assistant" ? info.tokens : undefined
      if (used?.output) tokens.set(info.sessionID, used.input + (used.cache?.read ?? 0) + (used.cache?.write ?? 0))
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
        const session = input.sessionID
        const model = input.model ?? output.message.model
        if (model?.modelID) models.set(session, model.modelID)
        asked.add(output.message.id)
        const said = output.parts.filter((part) => part.type === "text" && !part.synthetic)
        // all that is awaited shares one limit: the person waits for it
        const until = Date.now() + PATIENCE_MS
        const rest = () => Math.max(0, until - Date.now())
        await meet(session)
        // what a subagent is asked is the tool's input, not something the user said
        if (!said.length || parents.has(session)) return
        const prompt = said.map((part) => part.text).join("\n")
        const first = await within(starts.get(session), rest(), "")
        starts.set(session, "")
        const sent = send("chat.message", { ...base(session), turn_id: output.message.id, prompt }, true)
        const now = await within(sent, rest(), "")
        const told = [first, now].filter(Boolean).join("\n\n")
        const last = output.parts.at(-1)
        // parts are read in the order of their ids
        if (told) output.parts.push({ ...OWN, id: `${last.id}nmem`, messageID: last.messageID, sessionID: session, text: told })
      } catch {}
    },
    "tool.execute.before": async (input) => {
      calls.set(input.callID, Date.now())
    },
    "tool.execute.after": async (input, output) => {
      try {
        const failed = Boolean(output.metadata?.exit)
        const told = send(
          "tool.execute.after",
          {
            ...base(input.sessionID),
            tool_name: input.tool,
            tool_use_id: input.callID,
            tool_input: input.args,
            tool_response: { title: output.title, output: output.output, metadata: output.metadata },
            duration_ms: calls.has(input.callID) ? Date.now() - calls.get(input.callID) : undefined,
          },
          failed,
        )
        // only of a command that failed can anything be known
        const text = failed ? await told : ""
        if (text) output.output += `\n\n${text}`
      } catch {}
    },
    dispose: async () => {
      const all = [...starts.keys()].map((session) => send("dispose", { ...base(session), reason: "exit" }, true))
      starts.clear()
      await Promise.all(all)
    },
  }
}
