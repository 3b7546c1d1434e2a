import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { hasAccount, isOperator } from "../../api/people";
import { modelsQuery, sessionQuery } from "../../api/queries";
import { Composer, type When } from "../../parts/composer";
import { Problem } from "../../parts/states";
import { type MessageFile, sendMessage } from "../../stream/send_message";
import { messages } from "../../words/messages";
import { AccountPickers } from "./account_pickers";
import { AgentPicker } from "./agent_picker";
import { ModelPicker } from "./model_picker";
import { NoModel } from "./no_model";

interface StartComposerProps {
  draftKey: string;
  autoFocus?: boolean;
  initial?: string;
  examples?: readonly string[];
}

/**
 * The composer that starts a conversation. Where the board has no model, one that people have added answers;
 * where there is none either, it says what to do.
 */
export function StartComposer({ draftKey, autoFocus, initial, examples = [] }: StartComposerProps) {
  const navigate = useNavigate();
  const { data: session } = useQuery(sessionQuery);
  const { data: models, isError } = useQuery(modelsQuery);
  const { agent: wanted = "" } = useSearch({ strict: false }) as { agent?: string };
  const [agent, setAgent] = useState(wanted);
  const [picked, setModel] = useState("");
  const [accounts, setAccounts] = useState<Record<string, string>>({});
  const [error, setError] = useState<Error | null>(null);
  const [isBusy, setBusy] = useState(false);
  const hasDefault = !session || session.model_configured;
  const model = picked || (hasDefault ? "" : (models?.[0]?.name ?? ""));
  if (!hasDefault && model === "")
    return models || isError ? (
      <NoModel maySet={!hasAccount(session) || isOperator(session)} />
    ) : null;
  const start = async (text: string, _when: When, files: MessageFile[]) => {
    setBusy(true);
    setError(null);
    try {
      const id = await sendMessage({
        message: text,
        files,
        ...(agent ? { agent } : {}),
        ...(model ? { model } : {}),
        ...(Object.keys(accounts).length > 0 ? { accounts } : {}),
      });
      await navigate({ to: "/chat/$id", params: { id } });
      return true;
    } catch (reason) {
      setError(reason as Error);
      return false;
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <Composer
        label={messages.askTheBoard}
        placeholder={messages.askOrDescribe}
        draftKey={draftKey}
        autoFocus={autoFocus}
        initial={initial}
        examples={examples}
        isBusy={isBusy}
        before={
          <>
            <AgentPicker value={agent} onChange={setAgent} />
            <ModelPicker value={model} onChange={setModel} hasDefault={hasDefault} />
            <AccountPickers value={accounts} onChange={setAccounts} />
          </>
        }
        onSend={start}
      />
      <Problem error={error} />
    </>
  );
}
