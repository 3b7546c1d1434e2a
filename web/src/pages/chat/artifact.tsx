import { useQuery } from "@tanstack/react-query";
import { Download, X } from "lucide-react";
import { filesQuery } from "../../api/queries";
import { Dialog } from "../../parts/dialog";
import { Empty } from "../../parts/states";
import { messages } from "../../words/messages";
import { downloadAddress, viewAddress } from "./file_addresses";

interface ArtifactProps {
  conversation: string;
  path: string;
  onClose: () => void;
}

/**
 * A page or drawing that a tool wrote, in a frame of its own.
 *
 * Its scripts run apart from the console: without its address, its storage or any network.
 */
export function Artifact({ conversation, path, onClose }: ArtifactProps) {
  const { data } = useQuery(filesQuery(conversation));
  const isMissing = data && !data.has_more && !data.files.some((file) => file.path === path);
  return (
    <Dialog label={path} className="artifact" onClose={onClose}>
      <header>
        <h2 className="cut">{path}</h2>
        <span className="push">
          <a
            className="icon-btn"
            href={downloadAddress(conversation, path)}
            download
            aria-label={messages.download}
          >
            <Download className="i" aria-hidden="true" />
          </a>
          <button type="button" className="icon-btn" aria-label={messages.close} onClick={onClose}>
            <X className="i" aria-hidden="true" />
          </button>
        </span>
      </header>
      {isMissing ? (
        <Empty title={messages.noFile}>{messages.fileDeleted}</Empty>
      ) : (
        <iframe
          title={path}
          src={viewAddress(conversation, path)}
          sandbox="allow-scripts"
          referrerPolicy="no-referrer"
        />
      )}
    </Dialog>
  );
}
