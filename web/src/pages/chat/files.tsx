import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Download, Eye, FileText, Paperclip } from "lucide-react";
import { type Exchange, filesQuery } from "../../api/queries";
import { formatBytes, formatFull, formatWhen } from "../../words/format";
import { messages } from "../../words/messages";
import { downloadAddress, isViewable } from "./file_addresses";

/** The files of a conversation, each to download; nothing where there are none. */
export function Files({ id }: { id: string }) {
  const { data } = useQuery(filesQuery(id));
  const files = data?.files ?? [];
  if (files.length === 0) return null;
  return (
    <>
      <button type="button" className="btn quiet sm" popoverTarget="chat-files">
        <FileText className="i s" aria-hidden="true" /> {messages.files}
        <span className="num faint">{files.length}</span>
      </button>
      <div id="chat-files" popover="auto" className="menu files">
        <h2>{messages.files}</h2>
        <ul aria-label={messages.filesOfConversation}>
          {files.map((file) => (
            <li key={file.path}>
              <a
                href={downloadAddress(id, file.path)}
                download
                title={formatFull(file.modified_at)}
              >
                <span className="cut">{file.path}</span>
                <span className="faint num">
                  {formatBytes(file.size)} · {formatWhen(file.modified_at)}
                </span>
                <Download className="i s" aria-hidden="true" />
              </a>
              {isViewable(file.path) && (
                <Link
                  to="/chat/$id"
                  params={{ id }}
                  search={(before) => ({ ...before, view: file.path })}
                  className="icon-btn"
                  aria-label={messages.view(file.path)}
                >
                  <Eye className="i s" aria-hidden="true" />
                </Link>
              )}
            </li>
          ))}
        </ul>
        {data?.has_more && <p className="faint nothing">{messages.moreFiles}</p>}
      </div>
    </>
  );
}

/** The files that came with a message; one that is no longer there is no link. */
export function MessageFiles({ exchange }: { exchange: Exchange }) {
  const { data } = useQuery({
    ...filesQuery(exchange.conversation),
    enabled: exchange.files.length > 0,
  });
  if (exchange.files.length === 0) return null;
  const paths = new Set(data?.files.map((file) => file.path));
  return (
    <ul className="attached came" aria-label={messages.filesOfMessage}>
      {exchange.files.map((file) => (
        <li key={file.name}>
          {data && !data.has_more && !paths.has(file.name) ? (
            <span className="tag" title={messages.fileGone}>
              <Chip name={file.name} size={file.size} />
            </span>
          ) : (
            <a className="tag" href={downloadAddress(exchange.conversation, file.name)} download>
              <Chip name={file.name} size={file.size} />
            </a>
          )}
        </li>
      ))}
    </ul>
  );
}

function Chip({ name, size }: { name: string; size: number }) {
  return (
    <>
      <Paperclip className="i s" aria-hidden="true" />
      <span className="cut">{name}</span>
      <span className="faint num">{formatBytes(size)}</span>
    </>
  );
}
