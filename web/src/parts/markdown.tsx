import type { Token, Tokens } from "marked";
import {
  createContext,
  createElement,
  Fragment,
  memo,
  type ReactNode,
  useContext,
  useMemo,
} from "react";
import { splitNumbers } from "../stream/cited";
import { messages } from "../words/messages";
import { CopyButton } from "./copy_button";
import { readBlocks } from "./headings";

/** What stands for a number in brackets; null shows numbers as the text has them. */
export const CiteContext = createContext<((number: number) => ReactNode) | null>(null);

interface MarkdownProps {
  text: string;
  caret?: boolean;
  /** The level of the heading above the text; those of the text follow it without a gap. */
  under?: 1 | 2;
  /** What stands behind each block, by the text of all blocks. */
  inserts?: (blocks: readonly string[]) => ReactNode[];
}

/**
 * An answer of a model as React elements.
 *
 * The lexer of marked finds the blocks; nothing becomes markup on its own: HTML is shown as text,
 * pictures as links, and links lead to `https:`, `http:` and `mailto:` only. Blocks whose text did
 * not change are not drawn again while the answer grows. Each block runs in the direction of its own
 * text.
 */
export function Markdown({ text, caret = false, under = 2, inserts }: MarkdownProps) {
  const { blocks, ranks } = useMemo(() => readBlocks(text), [text]);
  const shown = blocks.filter((block) => block.type !== "space" && block.type !== "def");
  const inserted = inserts?.(shown.map((block) => block.raw)) ?? [];
  return (
    <div className={caret ? "prose writing" : "prose"}>
      {shown.map((block, index) => (
        <Fragment key={index}>
          <Block
            raw={block.raw}
            block={block}
            ranks={ranks.get(block) ?? ""}
            under={under}
            dir="auto"
          />
          {inserted[index]}
        </Fragment>
      ))}
    </div>
  );
}

interface Place {
  /** The level of the heading above the text. */
  under: number;
  /** The ranks of the headings in the whole block. */
  ranks: string;
  /** The direction of an outer block; those within take it over. */
  dir?: "auto";
}

interface BlockProps extends Place {
  raw: string;
  block: Token;
}

const Block = memo(
  function Block({ block, ...place }: BlockProps) {
    return <>{renderBlock(block, place)}</>;
  },
  (before, after) =>
    before.raw === after.raw && before.ranks === after.ranks && before.under === after.under,
);

function renderBlock(token: Token, place: Place): ReactNode {
  switch (token.type) {
    case "paragraph":
      return <p dir={place.dir}>{renderInline(token.tokens)}</p>;
    case "heading":
      // The page has its own headings; those of an answer lie below them.
      return createElement(
        `h${Math.min(place.under + token.depth, 6)}`,
        { className: token.depth > 1 ? "sub" : undefined, dir: place.dir },
        renderInline(token.tokens),
      );
    case "list":
      return renderList(token as Tokens.List, place);
    case "code":
      return <Code code={token as Tokens.Code} />;
    case "blockquote":
      return (
        <blockquote dir={place.dir}>
          {token.tokens?.map((inner, at) => renderKeyed(inner, at, place))}
        </blockquote>
      );
    case "table":
      return renderTable(token as Tokens.Table, place);
    case "hr":
      return <hr />;
    case "html":
      return <p dir={place.dir}>{token.raw.trim()}</p>;
    case "text":
      return (
        <p dir={place.dir}>
          {token.tokens ? renderInline(token.tokens) : <CitedText text={token.text} />}
        </p>
      );
    default:
      return token.raw.trim() ? <p dir={place.dir}>{token.raw}</p> : null;
  }
}

/** A block of code from the left, with its language where it is named. */
function Code({ code }: { code: Tokens.Code }) {
  const language = code.lang?.split(/\s/)[0];
  return (
    <figure className={language ? "code-block with-lang" : "code-block"} dir="ltr">
      <figcaption>
        {language}
        <CopyButton text={code.text} label={messages.copyCode} />
      </figcaption>
      <pre className="code" tabIndex={0}>
        <code>{code.text}</code>
      </pre>
    </figure>
  );
}

function renderKeyed(token: Token, index: number, place: Place): ReactNode {
  return <Block key={index} raw={token.raw} block={token} {...place} dir={undefined} />;
}

function renderList(list: Tokens.List, place: Place): ReactNode {
  const items = list.items.map((item, index) => (
    <li key={index} className={item.task ? "task" : undefined}>
      {item.task && (
        <input
          type="checkbox"
          checked={item.checked}
          readOnly
          disabled
          aria-label={messages.task}
        />
      )}
      {item.tokens.map((token, inner) =>
        token.type === "text" ? (
          <span key={inner}>{renderInline((token as Tokens.Text).tokens ?? [token])}</span>
        ) : token.type === "space" || token.type === "checkbox" ? null : (
          renderKeyed(token, inner, place)
        ),
      )}
    </li>
  ));
  return list.ordered ? (
    <ol start={Number(list.start) || 1} dir={place.dir}>
      {items}
    </ol>
  ) : (
    <ul dir={place.dir}>{items}</ul>
  );
}

function renderTable(table: Tokens.Table, place: Place): ReactNode {
  return (
    <section className="scroll" tabIndex={0} aria-label={messages.table} dir={place.dir}>
      <table>
        <thead>
          <tr>
            {table.header.map((cell, index) => (
              <th key={index} className={cell.align === "right" ? "r" : undefined}>
                {renderInline(cell.tokens)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map((row, rowIndex) => (
            <tr key={rowIndex}>
              {row.map((cell, index) => (
                <td key={index} className={cell.align === "right" ? "r" : undefined}>
                  {renderInline(cell.tokens)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function renderInline(tokens: Token[] = []): ReactNode {
  return tokens.map((token, index) => {
    const key = `${index}`;
    switch (token.type) {
      case "strong":
        return <b key={key}>{renderInline(token.tokens)}</b>;
      case "em":
        return <em key={key}>{renderInline(token.tokens)}</em>;
      case "del":
        return <del key={key}>{renderInline(token.tokens)}</del>;
      case "codespan":
        return <code key={key}>{token.text}</code>;
      case "br":
        return <br key={key} />;
      case "link":
        return (
          <Link key={key} href={token.href} text={renderInline(token.tokens)} plain={token.text} />
        );
      case "image":
        return (
          <Link key={key} href={token.href} text={token.text || "picture"} plain={token.text} />
        );
      case "html":
        return <span key={key}>{token.raw}</span>;
      case "escape":
        return <span key={key}>{unescapeHtml(token.text)}</span>;
      case "text":
        return (
          <span key={key}>
            {token.tokens ? renderInline(token.tokens) : <CitedText text={token.text} />}
          </span>
        );
      default:
        return <span key={key}>{token.raw}</span>;
    }
  });
}

function Link({ href, text, plain }: { href: string; text: ReactNode; plain: string }) {
  let url: URL;
  try {
    url = new URL(href);
  } catch {
    return <>{text}</>;
  }
  if (!["https:", "http:", "mailto:"].includes(url.protocol)) return <>{text}</>;
  const shown = url.hostname && !plain.includes(url.hostname) ? url.hostname : "";
  return (
    <>
      <a className="link" href={url.href} target="_blank" rel="noopener noreferrer">
        {text}
      </a>
      {shown && <span className="host"> ({shown})</span>}
    </>
  );
}

/** A text whose numbers in brackets lead to quotes, where the answer has any. */
function CitedText({ text }: { text: string }) {
  const cite = useContext(CiteContext);
  const plain = unescapeHtml(text);
  if (!cite) return plain;
  return splitNumbers(plain).map((part, index) => (
    <Fragment key={index}>{part.number === null ? part.text : cite(part.number)}</Fragment>
  ));
}

const ENTITIES: Record<string, string> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#39;": "'",
};

/** The lexer escapes some texts for HTML; React escapes them again. */
function unescapeHtml(text: string): string {
  return text.replaceAll(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity] ?? entity);
}
