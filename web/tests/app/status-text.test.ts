import { expect, test } from "vitest";
import { statusText, type StatusContext } from "../../src/app/status-text";
import { recentTimeText } from "../../src/app/times";
import type { SheetStatus } from "../../src/data/types";

const SAVED: SheetStatus = { position: "0.42", pending: 0, oldestPendingMs: null, isOnline: true, role: "editor", problem: null };
const ACTIVE: StatusContext = { status: "active", isLink: false };

test.each<[Partial<SheetStatus>, Partial<StatusContext>, string, string]>([
  [{}, {}, "Saved", "quiet"],
  [{ pending: 1, oldestPendingMs: 400 }, {}, "Saving…", "quiet"],
  [{ pending: 1, oldestPendingMs: 400, isOnline: false }, {}, "Offline · 1 edit waits", "waiting"],
  [{ pending: 1_200, oldestPendingMs: 90_000 }, {}, "1,200 edits wait, for 2 min", "waiting"],
  [{ isOnline: false }, {}, "Offline", "waiting"],
  [{ isOnline: false, pending: 2, oldestPendingMs: 5_000 }, {}, "Offline · 2 edits wait, for 5 s", "waiting"],
  [{ problem: "the disk is full", pending: 2, oldestPendingMs: 5_000 }, {}, "2 edits wait, for 5 s · The disk is full", "problem"],
  [{ role: "viewer" }, {}, "Read-only: you are a viewer", "quiet"],
  [{ role: "viewer" }, { isLink: true }, "Read-only: the share link is for viewers", "quiet"],
  [{}, { status: "archived" }, "Read-only: archived", "quiet"],
  [{ role: "viewer" }, { at: "0.7" }, "Read-only: an earlier state", "quiet"],
  // Before the first load, the role is not known.
  [{ isOnline: false, role: "viewer" }, {}, "Offline", "waiting"],
])("%j in %j", (status, context, text, tone) => {
  expect(statusText({ ...SAVED, ...status }, { ...ACTIVE, ...context })).toEqual({ text, tone });
});

test("recent times are relative, others dates", () => {
  const now = Date.UTC(2026, 10, 27, 12);
  expect(recentTimeText(now / 1_000 - 30, now)).toBe("just now");
  // The clock of the server may be ahead.
  expect(recentTimeText(now / 1_000 + 30, now)).toBe("just now");
  expect(recentTimeText(now / 1_000 - 3 * 3_600, now)).toBe("3 h ago");
  expect(recentTimeText(Date.UTC(2025, 4, 3, 12) / 1_000, now)).toContain("2025");
  expect(recentTimeText(Date.UTC(2026, 4, 3, 12) / 1_000, now)).not.toContain("2026");
});
