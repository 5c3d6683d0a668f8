/** The screen for users without a token. */

import { useEffect, useState } from "preact/hooks";
import { listSpreadsheets } from "../../stack/list";
import { createStackClient } from "../../stack/http";
import { formatRoute, routeOfPastedText, tokenOfFragment } from "../routes";
import { setCredentials } from "../session";
import { stackUrl } from "../stack-access";
import { Problem } from "../ui/dialog";
import { useAction, useDocumentTitle } from "../ui/hooks";
import { readIssuers, type Issuer } from "./config";

export default function SignInScreen() {
  useDocumentTitle("Sign in");
  return (
    <main class="message sign-in">
      <h1>Sign in to Cellar</h1>
      <p class="muted">{new URL(stackUrl()).host}</p>
      <SignIn />
    </main>
  );
}

/** The ways to sign in: the issuers of the stack, and a token. */
export function SignIn() {
  const [issuers, setIssuers] = useState<Issuer[]>([]);
  useEffect(() => void readIssuers().then(setIssuers), []);
  return (
    <>
      {issuers.map((issuer) => <IssuerButton key={issuer.issuer} issuer={issuer} />)}
      <TokenForm hasIssuers={issuers.length > 0} />
    </>
  );
}

function IssuerButton({ issuer }: { issuer: Issuer }) {
  const { isRunning, problem, run } = useAction();
  const start = () => void run(async () => (await import("./oidc")).startLogin(issuer));
  return (
    <div class="issuer">
      <button type="button" class="primary" disabled={isRunning} onClick={start}>Sign in with {issuer.name}</button>
      <Problem error={problem} />
    </div>
  );
}

function TokenForm({ hasIssuers }: { hasIssuers: boolean }) {
  const [text, setText] = useState("");
  const { isRunning, problem, run } = useAction();
  const submit = (event: Event) => {
    event.preventDefault();
    void run(() => acceptText(text.trim()));
  };
  return (
    <form class="token" onSubmit={submit}>
      <label for="token">Token or share link</label>
      <div class="field">
        <input id="token" type="password" autocomplete="off" spellcheck={false} required value={text} onInput={(event) => setText(event.currentTarget.value)} />
        <button type="submit" class={hasIssuers ? "" : "primary"} disabled={isRunning || text.trim() === ""}>Sign in</button>
      </div>
      <p class="hint">
        Create a token with <code>synth token create</code>, or ask the operator of the stack for one. Browsers forget it when
        the tab is closed.
      </p>
      <Problem error={problem} />
    </form>
  );
}

/** Opens a share link, or signs in if the stack accepts the token. */
async function acceptText(text: string): Promise<void> {
  const route = routeOfPastedText(text);
  if (route?.kind === "unknown") throw new Error(route.reason);
  if (route !== null) return void (location.hash = formatRoute(route));
  const token = tokenOfFragment(text.replace(/^[^#]*#/, "")) ?? text;
  if (/\s/.test(token)) throw new Error("a token has no spaces; copy it in full");
  await listSpreadsheets(createStackClient({ url: stackUrl(), getToken: () => token }), { name: "-" });
  setCredentials({ token });
}
