// Looks at a page in a real browser and prints what it saw as JSON: node page.mjs TOOLS BROWSER PAGE FOLDER
// TOOLS has playwright-core and axe-core; screenshots go to FOLDER.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [tools, browserPath, file, folder] = process.argv.slice(2);
const { chromium } = createRequire(join(tools, "x.js"))("playwright-core");
const axe = readFileSync(join(tools, "axe-core", "axe.min.js"), "utf8");
const sizes = { wide: { width: 1280, height: 900 }, narrow: { width: 390, height: 844 } };
const address = pathToFileURL(file).href;
const seen = { console: [], requests: [], dialogs: 0, looks: [], keyboard: {}, print: {}, hostile: {} };

// Root may not use Chromium's own sandbox; nothing but the page under test is opened.
const browser = await chromium.launch({ executablePath: browserPath, args: ["--no-sandbox", "--disable-gpu"] });
try {
  for (const colorScheme of ["light", "dark"]) {
    const context = await browser.newContext({ colorScheme, viewport: sizes.wide, reducedMotion: "reduce" });
    const page = await context.newPage();
    page.on("console", (message) => seen.console.push(`${message.type()}: ${message.text()}`));
    page.on("pageerror", (error) => seen.console.push(`error: ${error}`));
    page.on("request", (request) => request.url() === address || seen.requests.push(request.url()));
    page.on("dialog", (dialog) => { seen.dialogs += 1; return dialog.dismiss(); });
    await page.goto(address);
    for (const [name, size] of Object.entries(sizes)) {
      await page.setViewportSize(size);
      const shot = join(folder, `${name}-${colorScheme}.png`);
      await page.screenshot({ path: shot, fullPage: true });
      const overflow = await page.evaluate(() => document.scrollingElement.scrollWidth - window.innerWidth);
      const paper = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      seen.looks.push({ name, colorScheme, shot, overflow, paper });
    }
    await page.setViewportSize(sizes.wide);
    if (colorScheme === "light") {
      seen.keyboard = await byKeyboard(page);
      seen.print = await printed(page);
    }
    await page.evaluate(() => { for (const item of document.querySelectorAll("details")) item.open = true; });
    await page.evaluate(axe);
    const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
    seen.looks.at(-1).axe = found.violations.map(({ id, impact, nodes }) => ({
      id, impact, where: nodes.slice(0, 3).map((node) => `${node.target} ${node.failureSummary}`),
    }));
    seen.looks.at(-1).axePasses = found.passes.length;
    seen.hostile = await page.evaluate(() => ({
      title: document.title,
      running: document.querySelectorAll("script, img, iframe, object, embed, form").length,
      messages: [...document.querySelectorAll("pre.message")].map((item) => item.textContent),
    }));
    await context.close();
  }
} finally {
  await browser.close();
}
console.log(JSON.stringify(seen));

async function byKeyboard(page) {
  const focused = () => page.evaluate(() => {
    const item = document.activeElement;
    const style = getComputedStyle(item);
    return { tag: item.tagName, text: item.textContent.trim().slice(0, 40), outline: style.outlineStyle, width: parseFloat(style.outlineWidth), open: item.parentElement?.open ?? null, cell: item.parentElement?.classList.contains("cell") ?? false };
  });
  await page.keyboard.press("Tab");
  const first = await focused();
  let here = first;
  for (let presses = 0; presses < 200 && !(here.tag === "SUMMARY" && here.cell); presses += 1) {
    await page.keyboard.press("Tab");
    here = await focused();
  }
  await page.keyboard.press("Enter");
  const entered = await focused();
  await page.keyboard.press("Space");
  const left = await focused();
  const shown = () => page.evaluate(() => [...document.querySelectorAll(".cell")].filter((item) => item.checkVisibility()).length);
  const all = await shown();
  await page.focus("#show-all");
  await page.keyboard.press("ArrowRight");
  const failed = await shown();
  await page.keyboard.press("ArrowRight");
  const errors = await shown();
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowLeft");
  return { first, summary: here, entered, left, all, failed, errors };
}

async function printed(page) {
  await page.emulateMedia({ media: "print" });
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
  const bodies = (verdict) => page.evaluate(
    (name) => [...document.querySelectorAll(`.cell.${name} > .body`)].map((item) => item.checkVisibility() && item.getBoundingClientRect().height > 0),
    verdict,
  );
  const found = { fail: await bodies("fail"), error: await bodies("error"), pass: await bodies("pass"), nav: await page.isVisible("nav") };
  await page.emulateMedia({ media: "screen" });
  return found;
}
