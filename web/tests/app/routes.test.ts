import fc from "fast-check";
import { expect, test } from "vitest";
import { formatRoute, linkTokenOf, parseRoute, routeOfPastedText, tokenOfFragment, type SheetRoute } from "../../src/app/routes";

const ID = "0b8f2c9e-5d1a-8c3b-9f00-6a2f4c1d7e55";
const SECRET = "q0fV3bG9sZ2YkP1mXh7u0A";

test("a share link is read and written as `cellar` does", () => {
  const fragment = `#/s/${ID}?link=${SECRET}`;
  const route = parseRoute(fragment);
  expect(route).toEqual({ kind: "sheet", id: ID, link: SECRET });
  expect(formatRoute(route)).toBe(fragment);
  expect(linkTokenOf(route)).toBe(`cellar-link.${ID}.${SECRET}`);
});

test.each(["", "#", "#/", "/"])("%j is the list", (fragment) => {
  expect(parseRoute(fragment)).toEqual({ kind: "list" });
});

test.each(["#/s/", "#/s/7", `#/s/${ID}/cells`, "#/x", `#s/${ID}`])("%s is no route", (fragment) => {
  expect(parseRoute(fragment)).toMatchObject({ kind: "unknown" });
});

test.each(["", "abc", `${SECRET}A`, SECRET.slice(1), `${SECRET.slice(0, -1)}B`, `${SECRET}=`])("the secret %j is refused", (secret) => {
  const route = parseRoute(`#/s/${ID}?link=${secret}`);
  expect(route).toMatchObject({ kind: "unknown", reason: expect.stringContaining("incomplete") as string });
});

test("each secret that the server makes is accepted", () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 16, maxLength: 16 }), (bytes) => {
      const secret = Buffer.from(bytes).toString("base64url");
      expect(parseRoute(`#/s/${ID}?link=${secret}`)).toEqual({ kind: "sheet", id: ID, link: secret });
    }),
  );
});

test("each route is read as it was written", () => {
  const text = fc.string({ unit: "grapheme", minLength: 1 });
  const routes = fc.record({ sheet: text, cell: text, at: text }, { requiredKeys: [] });
  fc.assert(
    fc.property(routes, (parameters) => {
      const route: SheetRoute = { kind: "sheet", id: ID, ...parameters };
      expect(parseRoute(formatRoute(route))).toEqual(route);
    }),
  );
});

test("a pasted URL or token of a share link is its route", () => {
  const route = { kind: "sheet", id: ID, link: SECRET };
  expect(routeOfPastedText(`cellar-link.${ID}.${SECRET}`)).toEqual(route);
  expect(routeOfPastedText(` https://example.com/#/s/${ID}?link=${SECRET}\n`)).toEqual(route);
  expect(routeOfPastedText(`cellar-link.${ID}.short`)).toMatchObject({ kind: "unknown" });
  expect(routeOfPastedText("eyJ0.eyJz.c2ln")).toBeNull();
  expect(routeOfPastedText("https://example.com/#token=eyJ0.eyJz.c2ln")).toBeNull();
});

test("a token is read from the fragment that `deploy --local` prints", () => {
  expect(tokenOfFragment("#token=eyJ0.eyJz.c2ln_-")).toBe("eyJ0.eyJz.c2ln_-");
  expect(tokenOfFragment("#token=a%2Eb")).toBe("a.b");
  for (const fragment of ["", "#/", "#token=", "#token=%E0%A4%A", "#/s/token=x"]) expect(tokenOfFragment(fragment)).toBeNull();
});
