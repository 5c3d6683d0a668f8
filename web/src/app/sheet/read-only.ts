/** A view of a source whose status says that the user cannot edit. */

import type { OpenedSheet } from "../../data/index";

export function withoutEditing(source: OpenedSheet): OpenedSheet {
  return Object.create(source, {
    status: { get: () => ({ ...source.status, role: "viewer" }) },
  }) as OpenedSheet;
}
