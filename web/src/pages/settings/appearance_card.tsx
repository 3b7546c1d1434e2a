import { useState } from "react";
import { chooseTheme, readTheme, type Theme } from "../../parts/theme";
import { settingWords } from "../../words/settings";

const THEMES: Theme[] = ["system", "light", "dark"];

/** The theme of this browser. */
export function AppearanceCard() {
  const [chosen, setChosen] = useState(readTheme);
  return (
    <section className="card padded" aria-label={settingWords.appearance}>
      <h2>{settingWords.appearance}</h2>
      <fieldset className="field">
        <legend>{settingWords.theme}</legend>
        <div className="radios">
          {THEMES.map((theme) => (
            <label key={theme}>
              <input
                type="radio"
                name="theme"
                checked={chosen === theme}
                onChange={() => {
                  chooseTheme(theme);
                  setChosen(theme);
                }}
              />
              {settingWords.themes[theme]}
            </label>
          ))}
        </div>
        <span className="hint">{settingWords.themeWhat}</span>
      </fieldset>
    </section>
  );
}
