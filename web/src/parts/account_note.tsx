import { useQuery } from "@tanstack/react-query";
import { UserRound } from "lucide-react";
import { sessionQuery } from "../api/queries";
import { approvalWords, readAccount } from "../words/approvals";

interface AccountNoteProps {
  /** The account as a record names it; empty for a call that acts with none. */
  label: string;
  /** Who makes the call; empty for the reader. */
  caller?: { id: string; name: string };
}

/** Whose account a call acts with. */
export function AccountNote({ label, caller }: AccountNoteProps) {
  const { data: session } = useQuery({ ...sessionQuery, enabled: label !== "" });
  const account = readAccount(label);
  if (!account) return null;
  const whose =
    account.owner === session?.caller
      ? approvalWords.yourAccount
      : caller && account.owner === caller.id
        ? approvalWords.accountOf(caller.name)
        : approvalWords.sharedAccount;
  return (
    <p className="note">
      <UserRound className="i s" aria-hidden="true" />
      <span>
        {approvalWords.actsWith} {whose} <b>{account.name}</b>
        {account.identity && ` (${account.identity})`} {approvalWords.at}{" "}
        <code>{account.source}</code>
      </span>
    </p>
  );
}
