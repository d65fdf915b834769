import { Html } from './html.js';

/** Readable on paper too. */
export const STYLE = new Html(`
:root{--good:#15803d;--bad:#b91c1c;--warn:#b45309;--dim:#64748b;--line:#e2e8f0}
*{box-sizing:border-box}body{font:14px/1.5 system-ui,sans-serif;color:#0f172a;max-width:1100px;margin:2rem auto;padding:0 1.5rem}
h1{font-size:1.6rem;margin:0}h2{font-size:1.1rem;margin:2rem 0 .6rem;border-bottom:1px solid var(--line);padding-bottom:.3rem}h4{margin:.8rem 0 .2rem;color:var(--dim);font-weight:600}
.sub,footer{color:var(--dim);margin:.2rem 0}footer{margin-top:3rem;border-top:1px solid var(--line);padding-top:.8rem;font-size:12px}
code,pre{font:12px/1.5 ui-monospace,monospace;overflow-wrap:anywhere}pre{background:#f8fafc;border:1px solid var(--line);border-radius:6px;padding:.6rem;white-space:pre-wrap;margin:0;max-height:24rem;overflow:auto}
.tag{font-size:12px;font-weight:600;border-radius:99px;padding:.1rem .6rem;background:#e2e8f0;color:#334155;vertical-align:middle;white-space:nowrap}
.tag.completed,.tag.succeeded,.tag.allow{background:#dcfce7;color:var(--good)}.tag.failed,.tag.denied,.tag.deny,.tag.timed_out,.tag.rejected,.tag.ambiguous{background:#fee2e2;color:var(--bad)}.tag.held,.tag.hold,.tag.canceled,.tag.expired{background:#fef3c7;color:var(--warn)}
.verdict{border-left:5px solid;border-radius:6px;padding:.8rem 1rem;margin:1.2rem 0;background:#f8fafc}.good{border-color:var(--good)}.broken{border-color:var(--bad);background:#fef2f2}.open{border-color:var(--warn)}.bad{color:var(--bad)}
.cards{display:flex;flex-wrap:wrap;gap:.6rem}.card{border:1px solid var(--line);border-radius:8px;padding:.5rem .9rem;min-width:6.5rem}.card b{display:block;font-size:1.2rem}.card span{color:var(--dim);font-size:12px}
table{border-collapse:collapse;width:100%}th,td{text-align:left;vertical-align:top;padding:.25rem .6rem .25rem 0}.facts th{width:10rem;color:var(--dim);font-weight:500}.broken td,.broken th{border-top:1px solid #fecaca}
details{border:1px solid var(--line);border-radius:8px;margin:.4rem 0;padding:.5rem .8rem;break-inside:avoid}summary{cursor:pointer}.right{float:right}.icon{display:inline-block;width:1.2em;text-align:center;color:var(--dim)}.icon.succeeded{color:var(--good)}.icon.failed,.icon.denied{color:var(--bad)}
svg{width:100%;height:auto;font:11px system-ui,sans-serif}.name{text-anchor:end}.axis{text-anchor:middle;fill:#64748b}.took{fill:#64748b}.tick{stroke:#e2e8f0}.waited{fill:#cbd5e1}.bar{fill:#64748b}.bar.succeeded{fill:#22c55e}.bar.failed,.bar.denied,.bar.timed_out,.bar.rejected,.bar.ambiguous{fill:#ef4444}.bar.held,.bar.canceled,.bar.expired{fill:#f59e0b}
@media print{body{margin:0;max-width:none}pre{max-height:none}}
`);
