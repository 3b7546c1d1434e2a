import { Link } from "@tanstack/react-router";
import type { Tool } from "../../api/queries";
import { pegOf } from "../../parts/pegs";
import { titleOf } from "../../words/format";
import { toolWords } from "../../words/tools";
import type { ToolSearch } from "./tools_page";

const TAGS = {
  q: ["wait", toolWords.asks],
  x: ["bad", toolWords.unavailableTag],
  o: ["", toolWords.off],
  h: ["unsure", toolWords.heldBack],
} as const;
const NOT_SET_UP = ["", toolWords.unavailableTag] as const;

interface ToolItemProps {
  tool: Tool;
  isChosen: boolean;
  /** Whether its source fails; a tool of another one is only not set up. */
  isFailing: boolean;
  search: ToolSearch;
}

/** A row of the list of tools. */
export function ToolItem({ tool, isChosen, isFailing, search }: ToolItemProps) {
  const peg = pegOf(tool);
  const tag = peg === "" ? null : peg === "x" && !isFailing ? NOT_SET_UP : TAGS[peg];
  return (
    <Link
      className={`item ${peg === "x" || peg === "o" ? "dead" : ""}`}
      to="/tools/$name"
      params={{ name: tool.name }}
      search={{ ...search, tab: undefined }}
      activeOptions={{ exact: true }}
      aria-current={isChosen ? "true" : undefined}
    >
      <b className="cut">{titleOf(tool.name, tool.title)}</b>
      <span className="mono cut" title={tool.name}>
        {tool.name}
      </span>
      <span className="side-tag">
        {tag && <span className={`tag ${tag[0]}`}>{tag[1]}</span>}
        {tool.effect !== "read" && <span className="tag">{tool.effect}</span>}
      </span>
    </Link>
  );
}
