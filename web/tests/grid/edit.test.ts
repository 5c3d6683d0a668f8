import { describe, expect, test } from "vitest";
import { edit, READY } from "../../src/grid/edit";
import { commandOf, type Key } from "../../src/grid/keys";

const cell = { row: 3, column: 1 };

function key(name: string, modifiers: Partial<Key> = {}): Key {
  return { key: name, ctrl: false, shift: false, alt: false, isComposing: false, ...modifiers };
}

describe("edit", () => {
  test("typing, then Enter stores the text and moves down", () => {
    const typing = edit(READY, { kind: "type", cell, original: "old" }).state;
    expect(typing.mode).toBe("typing");
    const step = edit(typing, { kind: "commit", text: "new", advance: "down" });
    expect(step).toEqual({ state: READY, text: "", advance: "down", input: { row: 3, column: 1, input: "new" } });
  });

  test("F2 shows the contents; an unchanged text is no edit", () => {
    const opened = edit(READY, { kind: "open", cell, original: "=A1" });
    expect(opened.text).toBe("=A1");
    expect(edit(opened.state, { kind: "commit", text: "=A1", advance: null }).input).toBeUndefined();
    expect(edit(opened.state, { kind: "toggle" }).state.mode).toBe("typing");
  });

  test("Escape discards the text", () => {
    const typing = edit(READY, { kind: "type", cell, original: "old" }).state;
    expect(edit(typing, { kind: "cancel" })).toEqual({ state: READY, text: "" });
  });

  test("typing over a cell and emptying the text clears the cell", () => {
    const typing = edit(READY, { kind: "type", cell, original: "old" }).state;
    expect(edit(typing, { kind: "commit", text: "", advance: null }).input?.input).toBe("");
  });
});

describe("keys", () => {
  test("keys of an input method are not commands", () => {
    expect(commandOf(key("Enter", { isComposing: true }), "typing", false)).toBeNull();
  });

  test("AltGr letters are text, not shortcuts", () => {
    expect(commandOf(key("a", { ctrl: true, alt: true }), "ready", false)).toBeNull();
  });

  test("Ctrl+Plus and Ctrl+Minus change whole rows or columns, and zoom otherwise", () => {
    expect(commandOf(key("-", { ctrl: true }), "ready", false, "rows")).toEqual({ kind: "delete", axis: "rows" });
    expect(commandOf(key("+", { ctrl: true, shift: true }), "ready", false, "columns")).toEqual({ kind: "insert", axis: "columns" });
    expect(commandOf(key("-", { ctrl: true }), "ready", false)).toBeNull();
    expect(commandOf(key("-", { ctrl: true, alt: true }), "ready", false, "rows")).toBeNull();
  });

  test("arrows commit while typing and move the caret while editing", () => {
    expect(commandOf(key("ArrowLeft"), "typing", false)).toEqual({ kind: "commit", advance: "left" });
    expect(commandOf(key("ArrowLeft"), "editing", false)).toBeNull();
  });

  test("Escape, then Tab leaves the grid", () => {
    expect(commandOf(key("Escape"), "ready", false)).toEqual({ kind: "releaseTab" });
    expect(commandOf(key("Tab"), "ready", true)).toEqual({ kind: "leave" });
    expect(commandOf(key("Tab"), "ready", false)).toEqual({ kind: "advance", axis: "columns", step: 1 });
  });
});
