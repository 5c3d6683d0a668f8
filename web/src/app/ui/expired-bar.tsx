/** Asks the user to sign in again when the token has expired. Edits wait on this device until then. */

import { useState } from "preact/hooks";
import { Dialog } from "./dialog";
import { useModule, useSession } from "./hooks";

const loadSignIn = () => import("../login/sign-in-screen");

export function ExpiredBar() {
  const { isUnauthorized } = useSession();
  const [isOpen, setOpen] = useState(false);
  if (!isUnauthorized) return null;
  return (
    <div class="bar warning" role="alert">
      <span>Your token has expired or was revoked. Edits are stored on this device and are sent after you sign in.</span>
      <button type="button" class="primary" onClick={() => setOpen(true)}>Sign in again</button>
      {isOpen ? <Dialog title="Sign in again" close={() => setOpen(false)}><SignInAgain /></Dialog> : null}
    </div>
  );
}

function SignInAgain() {
  const module = useModule(loadSignIn);
  return module && <module.SignIn />;
}
