import { expect, test } from "vitest";
import { describeInBrowser, openPlain, type Harness } from "./harness";

describeInBrowser("the guard of the browser tests", (harness) => {
  const openPage = async (harness: Harness) => openPlain(harness, await harness.newContext(), await harness.stack.create("guard"));

  test("reports messages of the console and uncaught errors", async () => {
    const page = await openPage(harness);
    await page.evaluate(() => {
      console.error("first fault");
      setTimeout(() => { throw new Error("second fault"); });
    });
    await expect.poll(() => harness.guard.take().join("\n")).toContain("second fault");
  });

  test("reports a violation of the content security policy", async () => {
    const page = await openPage(harness);
    await page.evaluate(() => document.body.setAttribute("style", "color: red"));
    await expect.poll(() => harness.guard.take().join("\n")).toContain("content security policy: style-src");
  });

  test("reports a request to another origin", async () => {
    const page = await openPage(harness);
    harness.guard.allow(/content security policy/i, /Failed to load resource/, /Refused to connect/);
    await page.evaluate(() => fetch("http://127.0.0.1:1/elsewhere").catch(() => undefined));
    const other = await harness.newContext();
    await (await other.newPage()).goto("http://127.0.0.1:1/").catch(() => undefined);
    expect(harness.guard.take().join("\n")).toContain("a request to another origin: http://127.0.0.1:1/");
  });

  test("reports a token in a requested URL", async () => {
    const page = await openPage(harness);
    harness.guard.allow(/Failed to load resource/);
    await page.evaluate((token) => fetch(`/nothing?token=${token}`), harness.stack.token);
    const problems = harness.guard.take();
    expect(problems.join("\n")).toContain("a token is in the requested URL");
    expect(problems.join("\n")).not.toContain(harness.stack.token);
  });
});
