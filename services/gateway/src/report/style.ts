import { Html } from './html.js';

/** Readable by day, by night and on paper, where all steps are unfolded. */
export const STYLE = new Html(`
:root{color-scheme:light dark;--page:#fff;--text:#0f172a;--dim:#5b6b80;--line:#e2e8f0;--panel:#f8fafc;--chip:#e2e8f0;--good:#15803d;--bad:#b91c1c;--warn:#b45309;--good-chip:#dcfce7;--bad-chip:#fee2e2;--warn-chip:#fef3c7;--good-bar:#22c55e;--bad-bar:#ef4444;--warn-bar:#f59e0b;--wait-bar:#cbd5e1}
@media (prefers-color-scheme:dark){:root{--page:#0f1420;--text:#e5e9f0;--dim:#94a3b8;--line:#293244;--panel:#171e2c;--chip:#2b3548;--good:#4ade80;--bad:#f87171;--warn:#fbbf24;--good-chip:#123a24;--bad-chip:#451a1e;--warn-chip:#42300c;--wait-bar:#3d4a61}}
@media print{:root{color-scheme:light;--page:#fff;--text:#000;--panel:#fff}}
*{box-sizing:border-box}body{font:14px/1.5 system-ui,sans-serif;background:var(--page);color:var(--text);max-width:1100px;margin:2rem auto;padding:0 1.5rem}
h1{font-size:1.6rem;margin:0}h2{font-size:1.1rem;margin:2rem 0 .6rem;border-bottom:1px solid var(--line);padding-bottom:.3rem}h4{margin:.8rem 0 .2rem;color:var(--dim);font-weight:600}
.sub,footer{color:var(--dim);margin:.2rem 0}footer{margin-top:3rem;border-top:1px solid var(--line);padding-top:.8rem;font-size:12px}
code,pre{font:12px/1.5 ui-monospace,monospace;overflow-wrap:anywhere}pre{background:var(--panel);border:1px solid var(--line);border-radius:6px;padding:.6rem;white-space:pre-wrap;margin:0;max-height:24rem;overflow:auto}
.tag{font-size:12px;font-weight:600;border-radius:99px;padding:.1rem .6rem;background:var(--chip);color:var(--text);vertical-align:middle;white-space:nowrap}
.tag.completed,.tag.succeeded,.tag.allow,.tag.released{background:var(--good-chip);color:var(--good)}.tag.failed,.tag.denied,.tag.deny,.tag.timed_out,.tag.rejected,.tag.ambiguous{background:var(--bad-chip);color:var(--bad)}.tag.held,.tag.hold,.tag.canceled,.tag.expired{background:var(--warn-chip);color:var(--warn)}
.verdict{border-left:5px solid;border-radius:6px;padding:.8rem 1rem;margin:1.2rem 0;background:var(--panel)}.good{border-color:var(--good)}.broken{border-color:var(--bad);background:var(--bad-chip)}.open{border-color:var(--warn)}.bad{color:var(--bad)}
.cards{display:flex;flex-wrap:wrap;gap:.6rem}.card{border:1px solid var(--line);border-radius:8px;padding:.5rem .9rem;min-width:6.5rem}.card b{display:block;font-size:1.2rem}.card span{color:var(--dim);font-size:12px}
table{border-collapse:collapse;width:100%}th,td{text-align:left;vertical-align:top;padding:.25rem .6rem .25rem 0}.facts th{width:10rem;color:var(--dim);font-weight:500}.rows td,.rows th,.broken td,.broken th{border-top:1px solid var(--line)}.rows td:first-child{min-width:15rem}.rows td:nth-child(2){min-width:13rem}.rows th{color:var(--dim);font-weight:500;border-top:0}
details{border:1px solid var(--line);border-radius:8px;margin:.4rem 0;padding:.5rem .8rem}summary{cursor:pointer;break-after:avoid}.right{float:right}.icon{display:inline-block;width:1.2em;text-align:center;color:var(--dim)}.icon.succeeded{color:var(--good)}.icon.failed,.icon.denied{color:var(--bad)}
svg{width:100%;height:auto;font:11px system-ui,sans-serif;fill:var(--text)}.name{text-anchor:end}.axis{text-anchor:middle;fill:var(--dim)}.took{fill:var(--dim)}.tick{stroke:var(--line)}.waited{fill:var(--wait-bar)}.bar{fill:var(--dim)}.bar.succeeded{fill:var(--good-bar)}.bar.failed,.bar.denied,.bar.timed_out,.bar.rejected,.bar.ambiguous{fill:var(--bad-bar)}.bar.held,.bar.canceled,.bar.expired{fill:var(--warn-bar)}
@media print{body{margin:0;max-width:none}pre{max-height:none}details::details-content{content-visibility:visible;display:block}}
`);
