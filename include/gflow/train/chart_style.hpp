#pragma once

namespace gflow::detail {

// How charts look, in a page (report.hpp) and in a file of their own (chart_file.hpp).

// Colours after Okabe and Ito, told apart by colour-blind readers, darkened for a light page and lightened for a dark.
inline constexpr const char* chart_palette = R"css(
:root { color-scheme: light dark; --page: #ffffff; --ink: #1c1e21; --faint: #5f6670; --grid: #e4e7eb; --box: #f6f7f9;
  --c0: #0067a5; --c1: #c9510c; --c2: #00805f; --c3: #b0488c; --c4: #6a51a3; --c5: #8a6d00; }
@media (prefers-color-scheme: dark) { :root { --page: #15181c; --ink: #e6e8eb; --faint: #a0a7b1; --grid: #2c3138;
  --box: #1d2126; --c0: #5bb8f0; --c1: #f08a4b; --c2: #35c49a; --c3: #e79ac8; --c4: #b3a3ee; --c5: #e3cf4a; } }
)css";

inline constexpr const char* chart_style = R"css(
svg { display: block; width: 100%; height: auto; overflow: visible; font: 13px system-ui, -apple-system, "Segoe UI",
  Roboto, "Noto Sans", "DejaVu Sans", sans-serif; font-variant-numeric: tabular-nums; }
svg text { fill: var(--faint); }
svg .label { fill: var(--ink); }
svg path { fill: none; stroke-linecap: round; stroke-linejoin: round; }
svg .grid { stroke: var(--grid); }
svg .axis { stroke: var(--faint); stroke-linecap: butt; }
svg .line { stroke: var(--c); stroke-width: 2.2; }
svg .raw { stroke: var(--c); stroke-width: 1; opacity: .28; }
svg .dashed .line { stroke-dasharray: 7 5; }
svg .dot { fill: var(--c); stroke: var(--page); stroke-width: 1; }
svg .spot { fill: var(--c); fill-opacity: 0; }
svg .spot:hover { fill-opacity: .8; }
)css";

}  // namespace gflow::detail
