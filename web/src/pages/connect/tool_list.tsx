import { Link } from "@tanstack/react-router";
import { messages } from "../../words/messages";
import { sharing } from "../../words/resources";

const MOST = 100;

/** The tools of a connector; each leads to its page. */
export function ToolList({ tools }: { tools: readonly string[] }) {
  return (
    <section className="card" aria-label={messages.tools}>
      <header>
        <h2>{messages.tools}</h2>
        <span className="more num">{tools.length}</span>
      </header>
      {tools.length === 0 && <p className="quiet-row dim">{sharing.noTools}</p>}
      <ul className="rows">
        {tools.slice(0, MOST).map((name) => (
          <li className="go" key={name}>
            <Link to="/tools/$name" params={{ name }}>
              <code>{name}</code>
            </Link>
          </li>
        ))}
      </ul>
      {tools.length > MOST && (
        <p className="quiet-row dim">{sharing.andMore(tools.length - MOST)}</p>
      )}
    </section>
  );
}
