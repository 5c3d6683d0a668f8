import { expect, test } from "vitest";
import { describeInBrowser, openPlain } from "./harness";

describeInBrowser("examples", (harness) => {
  test("the element in plain HTML shows, edits and keeps cells", async () => {
    const spreadsheet = await harness.stack.create("plain");
    await harness.stack.cellar("set", "-s", spreadsheet, "A1", "rent", "B1", "1250.00");
    const context = await harness.newContext();
    const page = await openPlain(harness, context, spreadsheet);
    await page.locator(".cell", { hasText: "rent" }).waitFor();
    await page.locator(".name-box").fill("B2");
    await page.locator(".name-box").press("Enter");
    await page.keyboard.type("=B1*2");
    await page.keyboard.press("Enter");
    await expect.poll(async () => (await harness.stack.cellar("get", "-s", spreadsheet, "--json"))).toContain('"formula":"=B1*2"');
    await page.locator(".cell", { hasText: "2500" }).waitFor();
    await page.reload();
    await page.locator(".cell", { hasText: "2500" }).waitFor();
  });

  test("the element in Preact opens and closes with its component", async () => {
    const spreadsheet = await harness.stack.create("framework");
    const page = await (await harness.newContext()).newPage();
    await page.goto(`${harness.url}/examples/framework/index.html#${new URLSearchParams({ spreadsheet, token: harness.stack.token })}`);
    await page.locator(".row-header").first().waitFor();
    await page.locator(".name-box").fill("A1");
    await page.locator(".name-box").press("Enter");
    await page.keyboard.type("hello");
    await page.keyboard.press("Enter");
    await page.getByText("All edits are saved").waitFor();
    await page.getByRole("button", { name: "Close" }).click();
    await expect.poll(() => page.locator("cellar-grid").count()).toBe(0);
    await page.getByRole("button", { name: "Open" }).click();
    await page.locator(".cell", { hasText: "hello" }).waitFor();
  });
});
