/** The screen after the redirect from an issuer. */

import { useEffect, useState } from "preact/hooks";
import { ProblemScreen } from "../problem-screen";
import { problemText } from "../problem-text";
import { setCredentials } from "../session";
import { finishLogin } from "./oidc";

export default function CallbackScreen() {
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    const address = new URL(location.href);
    // The code is good for one use and must not stay in the history of the browser.
    history.replaceState(null, "", location.pathname);
    finishLogin(address).then(({ credentials, returnTo }) => {
      setCredentials(credentials);
      history.replaceState(null, "", location.pathname + returnTo);
      dispatchEvent(new PopStateEvent("popstate"));
    }, setError);
  }, []);
  if (error === null) return <main class="message"><p class="muted">Signing in…</p></main>;
  const { detail } = problemText(error);
  const retry = () => location.assign(`${location.pathname}#/`);
  return <ProblemScreen title="Sign-in failed" detail={detail} advice="Nothing is lost. Sign in again." actions={["retry"]} retry={retry} />;
}
