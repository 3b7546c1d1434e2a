import { Lexer, type Token, type Tokens } from "marked";

export interface Blocks {
  blocks: Token[];
  /** Of each block the ranks of its headings, in their order; empty for none. */
  ranks: ReadonlyMap<Token, string>;
}

/**
 * The blocks of a text, whose headings have their rank as depth: 1 for those that stand below no
 * other, else one more than the heading that they stand below. So no level is left out.
 */
export function readBlocks(text: string): Blocks {
  const blocks: Token[] = new Lexer({ gfm: true }).lex(text);
  const above: number[] = [];
  return { blocks, ranks: new Map(blocks.map((block) => [block, rankHeadings(block, above)])) };
}

function rankHeadings(token: Token, above: number[]): string {
  if (token.type === "heading") {
    while ((above.at(-1) ?? 0) >= token.depth) above.pop();
    above.push(token.depth);
    token.depth = above.length;
    return String(token.depth);
  }
  return listInner(token)
    .map((inner) => rankHeadings(inner, above))
    .join("");
}

/** The blocks within a block. */
function listInner(token: Token): Token[] {
  if (token.type === "list") return (token as Tokens.List).items;
  if (token.type === "blockquote") return (token as Tokens.Blockquote).tokens;
  return token.type === "list_item" ? (token as Tokens.ListItem).tokens : [];
}
