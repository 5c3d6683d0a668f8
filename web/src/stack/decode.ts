/** Decodes the replies of the operations on sharing, forks and merges. */

import { fieldsOf, integerOf, listOf, oneOf, optionalInteger, optionalList, optionalText } from "../data/decode";
import { textOf, withoutAbsent } from "../data/decode";
import { decodeSpreadsheet, ROLES } from "./details";
import type * as types from "./types";


export function idOf(value: unknown): string {
  return textOf(value, "the id of a spreadsheet");
}

function personOf(value: unknown): types.Person {
  const fields = fieldsOf(value, "a person");
  return { issuer: textOf(fields.issuer, "an issuer"), subject: textOf(fields.subject, "a subject") };
}

function memberOf(value: unknown): types.Member {
  const fields = fieldsOf(value, "a member");
  return { person: personOf(fields.person), role: oneOf(fields.role, ROLES, "the role of a member") };
}

function linkOf(value: unknown): types.ShareLink {
  const fields = fieldsOf(value, "a share link");
  return withoutAbsent<types.ShareLink>({
    id: textOf(fields.id, "the id of a share link"),
    label: optionalText(fields.label, "the label of a share link") ?? "",
    role: oneOf(fields.role, ["viewer", "editor"] as const, "the role of a share link"),
    expiresS: optionalInteger(fields.expires_s, "the expiry of a share link"),
  });
}

export function sharingOf(value: unknown): types.Sharing {
  const fields = fieldsOf(value, "the details");
  const isSet = (field: unknown) => field !== undefined && field !== null;
  return withoutAbsent<types.Sharing>({
    ...decodeSpreadsheet(value),
    members: isSet(fields.members) ? listOf(fields.members, "members", memberOf) : undefined,
    links: isSet(fields.links) ? listOf(fields.links, "links", linkOf) : undefined,
    version: integerOf(fields.version, "the version of the details"),
  });
}

export function createdOf(value: unknown): types.Created {
  const fields = fieldsOf(value, "the created spreadsheet");
  const head = integerOf(fields.head, "head");
  return { id: idOf(fields.id), head, incarnation: integerOf(fields.incarnation, "incarnation") };
}

export function newLinkOf(value: unknown): types.NewLink {
  const fields = fieldsOf(value, "the created share link");
  return { id: textOf(fields.id, "the id of a share link"), token: textOf(fields.token, "a token") };
}

export function forkedOf(value: unknown): types.Forked {
  const fields = fieldsOf(value, "the created fork");
  return {
    id: idOf(fields.id),
    source: idOf(fields.source),
    position: integerOf(fields.position, "position"),
    head: integerOf(fields.head, "head"),
  };
}

export interface ForksPage {
  forks: types.ForkListed[];
  next?: number;
}

export function forksPageOf(value: unknown): ForksPage {
  const fields = fieldsOf(value, "the forks");
  const forks = listOf(fields.forks, "forks", (item) => {
    const fork = fieldsOf(item, "a fork");
    return withoutAbsent<types.ForkListed>({
      id: idOf(fork.id),
      author: optionalText(fork.author, "an author"),
      createdS: integerOf(fork.created_s, "the time of a fork"),
      position: integerOf(fork.position, "position"),
    });
  });
  return withoutAbsent<ForksPage>({ forks, next: optionalInteger(fields.next, "next") });
}

const OUTCOMES = ["unchanged", "moved", "dropped", "rejected"] as const;

function mergedEditOf(value: unknown): types.MergedEdit {
  const fields = fieldsOf(value, "a merged edit");
  const isRejected = fields.rejection !== undefined && fields.rejection !== null;
  return withoutAbsent<types.MergedEdit>({
    position: integerOf(fields.position, "position"),
    author: optionalText(fields.author, "an author"),
    createdS: integerOf(fields.created_s, "the time of an edit"),
    outcome: oneOf(fields.outcome, OUTCOMES, "the outcome of an edit"),
    rejection: isRejected ? textOf(fieldsOf(fields.rejection, "a rejection").detail, "a detail") : undefined,
    conflictCount: optionalInteger(fields.conflict_count, "the number of conflicts") ?? 0,
    conflicts: optionalList(fields.conflicts, "conflicts", (item) => {
      const cell = fieldsOf(item, "a cell in conflict");
      const sheet = integerOf(cell.sheet, "sheet");
      return { sheet, row: integerOf(cell.row, "row"), column: integerOf(cell.column, "column") };
    }),
  });
}

export function mergeReportOf(value: unknown): types.MergeReport {
  const fields = fieldsOf(value, "the merge");
  const counts = fieldsOf(fields.counts, "the counts of a merge");
  const countOf = (name: string) => integerOf(counts[name], `the number of edits ${name}`);
  return withoutAbsent<types.MergeReport>({
    counts: {
      unchanged: countOf("unchanged"),
      moved: countOf("moved"),
      dropped: countOf("dropped"),
      rejected: countOf("rejected"),
      inConflict: countOf("in_conflict"),
    },
    edits: listOf(fields.edits, "edits", mergedEditOf),
    from: integerOf(fields.from, "from"),
    through: integerOf(fields.through, "through"),
    head: integerOf(fields.head, "head"),
    remaining: integerOf(fields.remaining, "the remaining edits"),
    mergedAs: optionalInteger(fields.merged_as, "merged_as"),
  });
}
