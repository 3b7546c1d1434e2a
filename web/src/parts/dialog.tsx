import { type ReactNode, useEffect, useRef } from "react";

interface DialogProps {
  label: string;
  className?: string;
  onClose: () => void;
  children: ReactNode;
}

/** The browser returns to what opened a dialog, but not into a menu that is shut: its button is meant. */
function focusMenuOf(opener: Element | null): void {
  const menu = opener?.closest("[popover]");
  if (!menu) return;
  const buttons = document.querySelectorAll<HTMLElement>(
    `[popovertarget="${CSS.escape(menu.id)}"]`,
  );
  [...buttons].find((button) => !menu.contains(button))?.focus();
}

/** A native dialog over the page; Esc and a click beside it close it. */
export function Dialog({ label, className = "", onClose, children }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = ref.current;
    const before = document.activeElement;
    if (dialog && !dialog.open) dialog.showModal();
    return () => {
      dialog?.close();
      focusMenuOf(before);
    };
  }, []);
  return (
    <dialog
      ref={ref}
      className={`dialog ${className}`}
      aria-label={label}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => {
        if (event.target === ref.current) onClose();
      }}
    >
      <div className="dialog-in">{children}</div>
    </dialog>
  );
}
