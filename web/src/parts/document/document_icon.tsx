import { FileText, Globe, Image, Presentation, Table2 } from "lucide-react";

/** The icon of a kind of document. */
export function DocumentIcon({ mediaType, name }: { mediaType: string; name: string }) {
  const Icon = /spreadsheet|excel|csv/.test(mediaType)
    ? Table2
    : /^image\//.test(mediaType)
      ? Image
      : /html/.test(mediaType) || /\.html?$/i.test(name)
        ? Globe
        : /presentation|powerpoint/.test(mediaType)
          ? Presentation
          : FileText;
  return <Icon className="i" aria-hidden="true" />;
}
