/** A problem that leaves nothing else to show, with what to do about it. */

import type { ProblemAction } from "./problem-text";
import { leaveSession } from "./session";
import { useDocumentTitle } from "./ui/hooks";

interface ProblemScreenProps {
  title: string;
  detail: string;
  advice?: string;
  actions: readonly ProblemAction[];
  retry?: () => void;
  undelete?: (() => void) | undefined;
}

export function ProblemScreen({ title, detail, advice, actions, retry, undelete }: ProblemScreenProps) {
  useDocumentTitle(title);
  return (
    <main class="message">
      <h1>{title}</h1>
      <p>{detail}</p>
      {advice === undefined ? null : <p class="muted">{advice}</p>}
      <div class="actions">
        {actions.map((action, index) => (
          <ActionButton key={action} action={action} isPrimary={index === 0} retry={retry} undelete={undelete} />
        ))}
      </div>
    </main>
  );
}

interface ActionButtonProps {
  action: ProblemAction;
  isPrimary: boolean;
  retry: (() => void) | undefined;
  undelete: (() => void) | undefined;
}

function ActionButton({ action, isPrimary, retry, undelete }: ActionButtonProps) {
  const style = isPrimary ? "button primary" : "button";
  switch (action) {
    case "list":
      return <a class={style} href="#/">Show all spreadsheets</a>;
    case "sign-in":
      return <button type="button" class={style} onClick={signInAgain}>Sign in</button>;
    case "undelete":
      return undelete === undefined ? null : <button type="button" class={style} onClick={undelete}>Undelete</button>;
    case "retry":
      return <button type="button" class={style} onClick={retry ?? (() => location.reload())}>Try again</button>;
  }
}

/** Ends the session, and leaves the secret of a share link, so that the sign-in screen is shown. */
function signInAgain(): void {
  leaveSession();
  const plain = location.hash.replace(/\?.*$/, "");
  if (plain !== location.hash) location.hash = plain;
}
