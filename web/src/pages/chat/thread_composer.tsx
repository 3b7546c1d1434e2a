import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { send } from "../../api/client";
import { Composer, type When } from "../../parts/composer";
import { Problem } from "../../parts/states";
import { type MessageFile, sendMessage } from "../../stream/send_message";
import { messages } from "../../words/messages";
import { AccountPickers } from "./account_pickers";
import { AgentPicker } from "./agent_picker";
import { ModelPicker } from "./model_picker";

interface ThreadComposerProps {
  id: string;
  agent: string;
  model: string;
  accounts: Readonly<Record<string, string>>;
  isWorking: boolean;
  onSent: () => void;
}

type Choice = { agent: string } | { model: string } | { accounts: Record<string, string> };

/** The field for further messages, with who answers them. */
export function ThreadComposer(props: ThreadComposerProps) {
  const { id, agent, model, accounts, isWorking, onSent } = props;
  const client = useQueryClient();
  const [error, setError] = useState<Error | null>(null);
  const [isBusy, setBusy] = useState(false);
  const stop = useMutation({
    mutationFn: () => send("POST", `/conversations/${id}/stop`),
    onSettled: () => client.invalidateQueries({ queryKey: ["conversation", id] }),
  });
  const pick = useMutation({
    mutationFn: (choice: Choice) => send("PATCH", `/conversations/${id}`, choice),
    onSettled: () => client.invalidateQueries({ queryKey: ["conversation", id] }),
  });
  const sendText = async (text: string, when: When, files: MessageFile[]) => {
    setBusy(true);
    setError(null);
    try {
      await sendMessage({
        message: text,
        conversation: id,
        when,
        files,
      });
      await client.invalidateQueries({ queryKey: ["conversation", id] });
      onSent();
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
      <Problem error={error ?? stop.error ?? pick.error} />
      <Composer
        isSlim
        label={messages.message}
        placeholder={isWorking ? messages.addSomething : messages.askFurther}
        draftKey={`chat-${id}`}
        isBusy={isBusy}
        isWorking={isWorking}
        autoFocus
        before={
          <>
            <AgentPicker value={agent} onChange={(name) => pick.mutate({ agent: name })} />
            <ModelPicker value={model} onChange={(name) => pick.mutate({ model: name })} />
            <AccountPickers value={accounts} onChange={(all) => pick.mutate({ accounts: all })} />
          </>
        }
        onSend={sendText}
        onStop={() => stop.mutate()}
      />
    </>
  );
}
