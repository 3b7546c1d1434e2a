import { API } from "../../api/address";

/** Where a file of a conversation is downloaded. */
export function downloadAddress(conversation: string, path: string): string {
  return addressOf(conversation, "files", path);
}

/** Where a page or a drawing is shown, to stand in a frame. */
export function viewAddress(conversation: string, path: string): string {
  return addressOf(conversation, "view", path);
}

/** Whether the server shows a file of this name. */
export function isViewable(path: string): boolean {
  return /\.(html?|svg)$/i.test(path);
}

function addressOf(conversation: string, kind: string, path: string): string {
  const encoded = path.split("/").map(encodeURIComponent).join("/");
  return `${API}/conversations/${encodeURIComponent(conversation)}/${kind}/${encoded}`;
}
