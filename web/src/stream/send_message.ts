import { makeError, request } from "../api/client";
import { newKey } from "../api/new_key";

/** A file that goes into the workspace of the conversation. */
export interface MessageFile {
  name: string;
  /** Base64. */
  data: string;
}

/** A file of this machine, with a name that the server accepts. */
export async function readFile(file: File): Promise<MessageFile> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let binary = "";
  for (let at = 0; at < bytes.length; at += 32_768)
    binary += String.fromCharCode(...bytes.subarray(at, at + 32_768));
  const plain = file.name.replaceAll(/[^\p{L}\p{N}_ .,()+-]/gu, "_");
  return { name: plain.replace(/^[^\p{L}\p{N}_]/u, "_").slice(0, 200), data: btoa(binary) };
}

export interface Message {
  files?: MessageFile[];
  message?: string;
  conversation?: string;
  agent?: string;
  model?: string;
  accounts?: Record<string, string>;
  instead_of?: string;
  when?: "queue" | "steer" | "stop";
}

/** The request whose response did not arrive. */
let unanswered: { body: string; key: string } | null = null;

/**
 * Send a message; the answer is followed by the stream of the conversation.
 *
 * The server works on when nobody follows the response, so that its body is not read.
 *
 * @returns the id of the conversation.
 */
export async function sendMessage(message: Message): Promise<string> {
  const body = JSON.stringify(message);
  // The same message after a lost response is the same request, and is answered once.
  const key = unanswered?.body === body ? unanswered.key : newKey();
  unanswered = { body, key };
  const response = await request("/chat", {
    method: "POST",
    headers: { "Content-Type": "application/json", "Idempotency-Key": key },
    body,
  });
  unanswered = null;
  if (!response.ok) throw makeError(response, await response.json().catch(() => null));
  await response.body?.cancel();
  return response.headers.get("X-Conversation-Id") ?? message.conversation ?? "";
}
