/** A view of a source whose status says why the user cannot edit. */

import type { OpenedSheet } from "../../data/index";

export function withoutEditing(source: OpenedSheet, reason: string): OpenedSheet {
  return Object.create(source, {
    status: { get: () => ({ ...source.status, readOnlyReason: reason }) },
  }) as OpenedSheet;
}
