/** The share links of a spreadsheet. A link is shown once, because the stack stores only a hash of it. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { StackClient } from "../../stack/http";
import { createLink, linkAddress, newSecret, revokeLink } from "../../stack/sharing";
import type { LinkRole, Sharing, ShareLink } from "../../stack/types";
import { useRunning } from "./hooks";
import { ActionProblem, ConfirmButton, Done } from "./parts";
import { dateTimeText } from "../times";
import { copyText } from "../ui/copy-text";

interface LinksProps {
  stack: StackClient;
  sharing: Sharing;
  replace: (sharing: Sharing) => void;
  reload: () => void;
}

interface NewLink {
  address: string;
  role: LinkRole;
  expiresS: number | null;
}

export function Links({ stack, sharing, replace, reload }: LinksProps) {
  const action = useRunning();
  const [created, setCreated] = useState<NewLink | null>(null);
  const [done, setDone] = useState("");
  const heading = useRef<HTMLHeadingElement>(null);
  const revoke = (link: ShareLink) =>
    action.run(async () => {
      replace(await revokeLink(stack, sharing.id, link.id));
      setDone("The link is revoked. Servers notice it within 30 seconds.");
      heading.current?.focus();
    });
  const links = sharing.links ?? [];
  return (
    <section aria-labelledby="links">
      <h3 id="links" ref={heading} tabIndex={-1}>Share links</h3>
      {links.length === 0 ? <p class="panel-muted">No share links.</p> : null}
      <ul class="panel-list">
        {links.map((link) => (
          <li class="panel-row" key={link.id}>
            <span class="panel-grow">
              {link.label === "" ? `Link ${link.id.slice(0, 6)}` : link.label}
              <span class="panel-small"> {link.role}, {expiryText(link.expiresS ?? null)}</span>
            </span>
            <ConfirmButton label="Revoke" name={`Revoke link ${link.label === "" ? link.id.slice(0, 6) : link.label}`} question="Revoke this link?" action="Revoke" isDisabled={action.isRunning} confirm={() => revoke(link)} />
          </li>
        ))}
      </ul>
      {created === null ? null : <CreatedLink link={created} />}
      <CreateLink stack={stack} id={sharing.id} isDisabled={action.isRunning} create={(send) => action.run(async () => {
        setDone("");
        setCreated(await send());
        reload();
      })} />
      <ActionProblem error={action.error} />
      <Done>{done}</Done>
    </section>
  );
}

function expiryText(expiresS: number | null): string {
  if (expiresS === null) return "does not expire";
  const isOver = expiresS * 1_000 <= Date.now();
  return `${isOver ? "expired" : "expires"} ${dateTimeText(expiresS)}`;
}

const DAY_S = 86_400;
const LIFETIMES: [days: number, text: string][] = [
  [1, "in a day"],
  [7, "in 7 days"],
  [30, "in 30 days"],
  [0, "never"],
];
const DEFAULT_DAYS = 7;

interface CreateLinkProps {
  stack: StackClient;
  id: string;
  isDisabled: boolean;
  create: (send: () => Promise<NewLink>) => void;
}

function CreateLink({ stack, id, isDisabled, create }: CreateLinkProps) {
  // A repeated attempt with the same secret creates no second link.
  const attempt = useRef<{ key: string; secret: string; expiresS: number | null } | null>(null);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const data = new FormData(form);
    const role: LinkRole = data.get("role") === "editor" ? "editor" : "viewer";
    const label = String(data.get("label") ?? "").trim();
    const days = Number(data.get("days"));
    const key = JSON.stringify([role, label, days]);
    if (attempt.current?.key !== key) {
      const expiresS = days > 0 ? Math.floor(Date.now() / 1_000) + days * DAY_S : null;
      attempt.current = { key, secret: newSecret(), expiresS };
    }
    const { secret, expiresS } = attempt.current;
    create(async () => {
      const link = { role, ...(label === "" ? {} : { label }), ...(expiresS === null ? {} : { expiresS }) };
      const { token } = await createLink(stack, id, link, secret);
      attempt.current = null;
      form.reset();
      return { address: linkAddress(stack.url, id, token), role, expiresS };
    });
  };
  return (
    <form class="panel-form" onSubmit={submit} aria-label="Create a share link">
      <div class="panel-pair">
        <label>
          Role
          <select name="role">
            <option value="viewer">viewer</option>
            <option value="editor">editor</option>
          </select>
        </label>
        <label>
          Expires
          <select name="days">
            {LIFETIMES.map(([days, text]) => <option key={days} value={days} selected={days === DEFAULT_DAYS}>{text}</option>)}
          </select>
        </label>
      </div>
      <label>
        Label, so that you recognize it
        <input name="label" maxLength={60} autocomplete="off" />
      </label>
      <div><button type="submit" class="primary" disabled={isDisabled}>Create link</button></div>
    </form>
  );
}

function CreatedLink({ link }: { link: NewLink }) {
  const { address, role, expiresS } = link;
  const field = useRef<HTMLInputElement>(null);
  const [copied, setCopied] = useState("");
  useEffect(() => {
    setCopied("");
    field.current?.focus();
    field.current?.select();
  }, [address]);
  const copy = async () => {
    field.current?.select();
    setCopied((await copyText(address)) ? "Copied." : "The browser did not copy it. Press Ctrl+C.");
  };
  const until = expiresS === null ? "until you revoke it" : `until ${dateTimeText(expiresS)}, or until you revoke it`;
  const power = role === "editor" ? "read and edit all sheets" : "read all sheets";
  return (
    <div class="panel-note">
      <label>
        New link, shown only once
        <input ref={field} class="panel-address" readOnly value={address} />
      </label>
      <div class="panel-actions">
        <button type="button" class="primary" onClick={() => void copy()}>Copy</button>
        <span role="status">{copied}</span>
      </div>
      <p class="panel-small">
        Who has this link can {power} and their history {until}, without signing in. If it is stolen, so can the thief,
        and nobody can tell them apart.{role === "editor" ? " Every edit stays in the history and can be undone." : ""}
      </p>
    </div>
  );
}
