import { Moon, Sun } from "lucide-react";
import { messages } from "../words/messages";
import { switchTheme } from "../parts/theme";

/** Changes between light and dark. */
export function ThemeButton() {
  return (
    <button
      type="button"
      className="icon-btn theme"
      aria-label={messages.switchTheme}
      onClick={switchTheme}
    >
      <span className="sun">
        <Sun className="i" aria-hidden="true" />
      </span>
      <span className="moon">
        <Moon className="i" aria-hidden="true" />
      </span>
    </button>
  );
}
