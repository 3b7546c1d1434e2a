import { useMutation } from "@tanstack/react-query";
import { FileText, FolderOpen, X } from "lucide-react";
import { type ChangeEvent, useRef, useState } from "react";
import { send } from "../../api/client";
import { changeResource, type Resource } from "../../api/resources";
import { usePageDrop } from "../../parts/page_drop";
import { useReadAgain } from "../../parts/read_again";
import { Problem } from "../../parts/states";
import { listChosen } from "../../stream/chosen_files";
import {
  NoSkill,
  readSkillFiles,
  readSkillName,
  SKILL_FILE,
  type SkillFiles,
} from "../../stream/skill_files";
import type { ChosenFile } from "../../stream/uploads";
import { messages } from "../../words/messages";
import { people } from "../../words/people";
import { skillWords } from "../../words/skills";
import "../../styles/knowledge.css";

interface SkillFormProps {
  /** The skill to change; a new one without it. */
  resource?: Resource;
  onDone: (name: string) => void;
  onCancel: () => void;
}

/** The texts of a skill: dropped, chosen as a file or folder, or written here. */
export function SkillForm({ resource, onDone, onCancel }: SkillFormProps) {
  const read = useReadAgain();
  const known = resource?.config?.files as SkillFiles | undefined;
  const [files, setFiles] = useState<SkillFiles>(known ?? { [SKILL_FILE]: skillWords.template });
  const [refused, setRefused] = useState("");
  const text = files[SKILL_FILE] ?? "";
  const name = readSkillName(text);
  const others = Object.keys(files)
    .filter((path) => path !== SKILL_FILE)
    .sort();
  const save = useMutation({
    mutationFn: () =>
      resource
        ? changeResource(resource.id, { config: { files } })
        : send<Resource>("POST", "/resources", { kind: "skill", name, config: { files } }),
    onSuccess: async (saved) => {
      await read();
      onDone(saved.name);
    },
  });
  const take = async (chosen: readonly ChosenFile[]) => {
    try {
      setFiles(await readSkillFiles(chosen));
      setRefused("");
    } catch (error) {
      if (!(error instanceof NoSkill)) throw error;
      setRefused(skillWords.refused(error.why, error.path));
    }
  };
  const isOver = usePageDrop((chosen) => void take(chosen));
  const title = resource ? skillWords.edit : skillWords.addSkill;
  return (
    <form
      className="card padded"
      aria-label={title}
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      <h1>{title}</h1>
      <div className={`drop ${isOver ? "over" : ""}`} role="group" aria-label={skillWords.dropHere}>
        <div className="t">
          <b>{isOver ? skillWords.letGo : skillWords.dropHere}</b>
          <span>{skillWords.dropWhat}</span>
        </div>
        <Picker onTake={(chosen) => void take(chosen)} />
      </div>
      {refused && (
        <p className="banner" role="alert">
          {refused}
        </p>
      )}
      <div className="field">
        <label htmlFor="skill-text">{SKILL_FILE}</label>
        <textarea
          id="skill-text"
          className="in mono"
          rows={18}
          spellCheck={false}
          aria-describedby="skill-text-hint"
          value={text}
          onChange={(event) => setFiles({ ...files, [SKILL_FILE]: event.target.value })}
        />
        <span className="hint" id="skill-text-hint">
          {skillWords.textHint}
        </span>
      </div>
      {others.length > 0 && (
        <ul className="rows" aria-label={skillWords.filesOf}>
          {others.map((path) => (
            <li key={path}>
              <FileText className="i s faint" aria-hidden="true" />
              <code className="cut">{path}</code>
              <button
                type="button"
                className="btn quiet sm push"
                aria-label={skillWords.leaveOut(path)}
                onClick={() => {
                  const { [path]: _left, ...rest } = files;
                  setFiles(rest);
                }}
              >
                <X className="i s" aria-hidden="true" />
              </button>
            </li>
          ))}
        </ul>
      )}
      <Problem error={save.error} />
      <div className="acts">
        <button
          type="submit"
          className="btn primary"
          disabled={save.isPending || (!resource && name === "")}
        >
          {resource ? people.save : skillWords.addSkill}
        </button>
        <button type="button" className="btn quiet" onClick={onCancel}>
          {messages.cancel}
        </button>
      </div>
    </form>
  );
}

function Picker({ onTake }: { onTake: (chosen: readonly ChosenFile[]) => void }) {
  const file = useRef<HTMLInputElement>(null);
  const folder = useRef<HTMLInputElement>(null);
  const onChange = (event: ChangeEvent<HTMLInputElement>) => {
    onTake(listChosen(event.target.files));
    event.target.value = "";
  };
  return (
    <div className="acts">
      <input
        ref={file}
        type="file"
        accept=".md,.zip"
        hidden
        onChange={onChange}
        data-testid="skill"
      />
      <input
        ref={folder}
        type="file"
        hidden
        onChange={onChange}
        {...{ webkitdirectory: "" }}
        data-testid="skill-folder"
      />
      <button type="button" className="btn" onClick={() => file.current?.click()}>
        {skillWords.chooseFile}
      </button>
      <button type="button" className="btn" onClick={() => folder.current?.click()}>
        <FolderOpen className="i s" aria-hidden="true" /> {skillWords.folder}
      </button>
    </div>
  );
}
