// Unpacks the browser into TMPDIR, so that tests which start at the same time find it there.
import chromium from "@sparticuz/chromium";

await chromium.executablePath();
