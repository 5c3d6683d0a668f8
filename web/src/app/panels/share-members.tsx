/** The members of a spreadsheet. Owners add and revoke them, and change their roles. */

import { useRef, useState } from "preact/hooks";
import { ROLES, type Role } from "../../stack/details";
import type { StackClient } from "../../stack/http";
import { share, unshare } from "../../stack/sharing";
import type { Member, Sharing } from "../../stack/types";
import { useRunning, type Running } from "./hooks";
import { ActionProblem, ConfirmButton, Done } from "./parts";

interface MembersProps {
  stack: StackClient;
  sharing: Sharing;
  replace: (sharing: Sharing) => void;
  isOwner: boolean;
}

export function Members({ stack, sharing, replace, isOwner }: MembersProps) {
  const action = useRunning();
  const [done, setDone] = useState("");
  const heading = useRef<HTMLHeadingElement>(null);
  const { members } = sharing;
  const issuers = [...new Set(members?.map((member) => member.person.issuer))];
  const change = (send: () => Promise<Sharing>, message: string, after?: () => void) =>
    action.run(async () => {
      setDone("");
      replace(await send());
      setDone(message);
      after?.();
    });
  const rowProps = { stack, id: sharing.id, isOwner, action, change, showsIssuer: issuers.length > 1 };
  return (
    <section aria-labelledby="members">
      <h3 id="members" ref={heading} tabIndex={-1}>Members</h3>
      {members === undefined ? <p class="panel-muted">Only editors and owners see the members.</p> : null}
      <ul class="panel-list">
        {members?.map((member) => (
          <MemberRow key={`${member.person.issuer} ${member.person.subject}`} member={member} focusList={() => heading.current?.focus()} {...rowProps} />
        ))}
      </ul>
      {isOwner ? <AddMember {...{ stack, id: sharing.id, issuers, action, change }} /> : null}
      <ActionProblem error={action.error} />
      <Done>{done}</Done>
    </section>
  );
}

type Change = (send: () => Promise<Sharing>, message: string, after?: () => void) => void;

interface RowProps {
  stack: StackClient;
  id: string;
  member: Member;
  isOwner: boolean;
  showsIssuer: boolean;
  action: Running;
  change: Change;
  focusList: () => void;
}

function MemberRow({ stack, id, member, isOwner, showsIssuer, action, change, focusList }: RowProps) {
  const { person, role } = member;
  const { subject } = person;
  const setRole = (select: HTMLSelectElement) => {
    const chosen = select.value as Role;
    // The select shows the role that the server knows, until it confirms the change.
    select.value = role;
    change(() => share(stack, id, person, chosen), `${subject} is now ${withArticle(chosen)}.`);
  };
  return (
    <li class="panel-row">
      <span class="panel-grow">
        {subject}
        {showsIssuer ? <span class="panel-small"> of {person.issuer}</span> : null}
      </span>
      {isOwner ? (
        <>
          <select aria-label={`Role of ${subject}`} value={role} disabled={action.isRunning} onChange={(event) => setRole(event.currentTarget)}>
            {ROLES.map((name) => <option key={name} value={name}>{name}</option>)}
          </select>
          <ConfirmButton
            label="Revoke"
            name={`Revoke access of ${subject}`}
            question={`Revoke access of ${subject}?`}
            action="Revoke"
            isDisabled={action.isRunning}
            confirm={() => change(() => unshare(stack, id, person), `${subject} has lost access. Servers notice it within 30 seconds.`, focusList)}
          />
        </>
      ) : <span>{role}</span>}
    </li>
  );
}

function withArticle(role: Role): string {
  return `${role === "viewer" ? "a" : "an"} ${role}`;
}

interface AddMemberProps {
  stack: StackClient;
  id: string;
  issuers: readonly string[];
  action: Running;
  change: Change;
}

function AddMember({ stack, id, issuers, action, change }: AddMemberProps) {
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const data = new FormData(form);
    const subject = textOf(data, "subject");
    const role = textOf(data, "role") as Role;
    const issuer = textOf(data, "issuer");
    if (subject === "") return;
    const person = issuer === "" ? { subject } : { subject, issuer };
    change(() => share(stack, id, person, role), `${subject} is now ${withArticle(role)}.`, () => {
      form.reset();
      form.querySelector("input")?.focus();
    });
  };
  return (
    <form class="panel-form" onSubmit={submit} aria-label="Add a member">
      <div class="panel-pair">
        <label>
          Name
          <input name="subject" required maxLength={64} autocomplete="off" aria-describedby="member-hint" />
        </label>
        <label>
          Role
          <select name="role">
            {ROLES.map((name) => <option key={name} value={name}>{name}</option>)}
          </select>
        </label>
      </div>
      {issuers.length > 1 ? (
        <label>
          Issuer of their tokens
          <select name="issuer">
            <option value="">the issuer of your token</option>
            {issuers.map((issuer) => <option key={issuer} value={issuer}>{issuer}</option>)}
          </select>
        </label>
      ) : null}
      <p class="panel-small" id="member-hint">The name is the subject of the person's token, exactly as the issuer writes it.</p>
      <div><button type="submit" class="primary" disabled={action.isRunning}>Share</button></div>
    </form>
  );
}

function textOf(data: FormData, name: string): string {
  const value = data.get(name);
  return typeof value === "string" ? value.trim() : "";
}
