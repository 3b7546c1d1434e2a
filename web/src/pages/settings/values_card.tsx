import { useNavigate, useSearch } from "@tanstack/react-router";
import { Search } from "lucide-react";
import type { Setting } from "../../api/settings";
import { Table } from "../../parts/table";
import { formatBytes, formatNumber } from "../../words/format";
import { settingWords } from "../../words/settings";

/** Each setting with its value, where it comes from, and the variable that changes it. */
export function ValuesCard({ settings }: { settings: readonly Setting[] }) {
  const navigate = useNavigate();
  const { q = "", only = "" } = useSearch({ strict: false }) as { q?: string; only?: string };
  const change = (part: { q?: string; only?: string }) =>
    void navigate({
      to: "/settings",
      search: { tab: "server", q: q || undefined, only: only || undefined, ...part },
      replace: true,
    });
  const wanted = q.trim().toLowerCase();
  const changed = settings.filter((item) => item.origin !== "default");
  const found = (only === "changed" ? changed : settings).filter((item) =>
    `${item.variable} ${item.description}`.toLowerCase().includes(wanted),
  );
  const groups = [...new Set(found.map((item) => item.group))];
  return (
    <section className="card clip values" aria-label={settingWords.values}>
      <header>
        <h2>{settingWords.values}</h2>
        <div className="find push">
          <Search className="i" aria-hidden="true" />
          <input
            className="in"
            type="search"
            aria-label={settingWords.find}
            placeholder={settingWords.find}
            value={q}
            onChange={(event) => change({ q: event.target.value || undefined })}
          />
        </div>
      </header>
      <div className="filters">
        <Chip
          isOn={only !== "changed"}
          word={`${settingWords.allValues} ${formatNumber(settings.length)}`}
          onClick={() => change({ only: undefined })}
        />
        <Chip
          isOn={only === "changed"}
          word={`${settingWords.changedValues} ${formatNumber(changed.length)}`}
          onClick={() => change({ only: "changed" })}
        />
      </div>
      {found.length === 0 && <p className="dim quiet-row">{settingWords.noneFits}</p>}
      {groups.map((group) => (
        <div key={group}>
          <h3 className="group-name">{settingWords.groups[group]}</h3>
          <Table
            caption={settingWords.groups[group] ?? group}
            columns={[settingWords.setting, settingWords.value, settingWords.comesFrom]}
            className="setting-rows"
          >
            {found
              .filter((item) => item.group === group)
              .map((item) => (
                <SettingRow key={item.name} setting={item} />
              ))}
          </Table>
        </div>
      ))}
    </section>
  );
}

function Chip({ isOn, word, onClick }: { isOn: boolean; word: string; onClick: () => void }) {
  return (
    <button type="button" className="chip" aria-pressed={isOn} onClick={onClick}>
      {word}
    </button>
  );
}

function SettingRow({ setting }: { setting: Setting }) {
  return (
    <tr>
      <td>
        <code className="name">{setting.name}</code>
        <small>{setting.description.replaceAll("`", "")}</small>
      </td>
      <td className="in-force">{valueOf(setting)}</td>
      <td className="dim">
        {settingWords.origins[setting.origin]}
        <small className="mono">{setting.variable}</small>
        {setting.is_overridden && (
          <small className="wait">{settingWords.overrides(setting.variable)}</small>
        )}
      </td>
    </tr>
  );
}

function valueOf({ name, value, is_secret, is_set }: Setting) {
  if (is_secret) return is_set ? settingWords.isSet : <Nothing />;
  if (!is_set) return <Nothing />;
  if (typeof value === "boolean") return value ? settingWords.yes : settingWords.no;
  if (typeof value === "number") return <span className="num">{amountOf(name, value)}</span>;
  return <code>{String(value)}</code>;
}

/** A number as people read it; a port is no amount. */
function amountOf(name: string, value: number): string {
  if (name.endsWith("_bytes") && value > 0) return formatBytes(value);
  return value < 100_000 ? String(value) : formatNumber(value);
}

function Nothing() {
  return <span className="faint">{settingWords.isNotSet}</span>;
}
