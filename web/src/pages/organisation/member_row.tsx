import { Link } from "@tanstack/react-router";
import { Ellipsis } from "lucide-react";
import type { Member } from "../../api/people";
import { StateMark } from "../../parts/marks";
import { WhoCell } from "../../parts/table";
import { formatFull, formatWhen } from "../../words/format";
import { messages } from "../../words/messages";
import { nameRoles, people } from "../../words/people";

interface MemberRowProps {
  member: Member;
  /** Of the organisation. */
  title: string;
  isYou: boolean;
  isAdministrator: boolean;
  onRoles: () => void;
  onRemove: () => void;
  /** Makes a link to sign in again; only operators can. */
  onLink: (() => void) | undefined;
}

/** A member, or a person who waits. */
export function MemberRow(props: MemberRowProps) {
  const { member, title, isYou, isAdministrator, onRoles, onRemove, onLink } = props;
  const isWaiting = member.state === "waiting";
  const when = formatWhen(member.created_at);
  return (
    <tr className={isWaiting ? "asks" : undefined}>
      <WhoCell name={member.name}>
        {[member.handle, member.email].filter(Boolean).join(" · ")}
      </WhoCell>
      <td>
        {isWaiting ? null : isAdministrator ? (
          <button
            type="button"
            className="btn sm"
            aria-label={`${people.rolesOf(member.name)}: ${nameRoles(member.roles)}`}
            onClick={onRoles}
          >
            {nameRoles(member.roles)}
          </button>
        ) : (
          <span className="as-text">{nameRoles(member.roles)}</span>
        )}
      </td>
      <td>
        {isWaiting ? (
          <>
            <StateMark state="waiting" />
            <small>{people.asked(when)}</small>
          </>
        ) : (
          <>
            <StateMark
              state={member.disabled ? "denied" : "done"}
              word={member.disabled ? people.isKeptOut : messages.approved}
            />
            {isYou && <small>{people.thisIsYou}</small>}
          </>
        )}
      </td>
      <td className="opt dim num" title={formatFull(member.created_at)}>
        {isWaiting ? "" : when}
      </td>
      <td className="acts-cell">
        {isWaiting ? (
          <div className="acts">
            <button type="button" className="btn sm" onClick={onRemove}>
              {people.turnDown}
            </button>
            <button type="button" className="btn sm" onClick={onRoles}>
              {people.letIn}
            </button>
          </div>
        ) : isYou ? (
          <div className="acts">
            <button type="button" className="btn sm quiet" onClick={onRemove}>
              {people.leave(title)}
            </button>
          </div>
        ) : (
          isAdministrator && (
            <div className="acts">
              <RowMenu member={member} title={title} onRemove={onRemove} onLink={onLink} />
            </div>
          )
        )}
      </td>
    </tr>
  );
}

type RowMenuProps = Pick<MemberRowProps, "member" | "title" | "onRemove" | "onLink">;

function RowMenu({ member, title, onRemove, onLink }: RowMenuProps) {
  const id = `more-${member.handle}`;
  return (
    <>
      <button
        type="button"
        className="icon-btn"
        aria-label={people.moreFor(member.name)}
        popoverTarget={id}
      >
        <Ellipsis className="i" aria-hidden="true" />
      </button>
      <div id={id} popover="auto" className="menu below-button">
        <Link to="/explain" search={{ who: member.handle }}>
          {people.whatMay(member.name)}
        </Link>
        {onLink && (
          <button type="button" popoverTarget={id} popoverTargetAction="hide" onClick={onLink}>
            {people.newPassword}
          </button>
        )}
        <button
          type="button"
          className="bad"
          popoverTarget={id}
          popoverTargetAction="hide"
          onClick={onRemove}
        >
          {people.removeFrom(title)}
        </button>
      </div>
    </>
  );
}
