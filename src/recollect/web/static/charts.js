// Charts by uPlot. Colours come from the page's theme; the numbers are in tables beside.
(() => {
  const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const short = (value) => value === null || value === undefined ? "" : Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 }).format(value);
  const palette = ["--accent", "--good", "--warn", "--hl-keyword", "--hl-type", "--bad", "--soft", "--hl-number"];

  // an amount of an axis with as many digits as its steps have: $0.025, not $0.03 twice
  const exact = (value, step) => {
    let digits = 2;
    while (digits < 6 && Math.round(step / 10 ** (6 - digits)) * 10 ** (6 - digits) !== Math.round(step)) digits += 1;
    return `$${(value / 1e6).toFixed(digits)}`;
  };

  let waiting = 0;  // a click leads on unless a second one follows, which zooms out

  function axis(values) {
    return { stroke: color("--soft"), grid: { stroke: color("--line"), width: 1 }, ticks: { stroke: color("--line") }, font: "12px system-ui, sans-serif", ...values };
  }
  function draw(figure, options, data) {
    figure.replaceChildren();
    const width = Math.max(figure.clientWidth, 260);
    return new window.uPlot({ width, height: width < 500 ? 220 : 280, cursor: { drag: { x: true, y: false } }, ...options }, data, figure);
  }
  const kinds = {
    context(figure, told) {
      const rows = told.rows;
      if (!rows.length) return;
      const data = [rows.map((row) => row.number), rows.map((row) => row.context), rows.map((row) => row.output)];
      draw(figure, {
        scales: { x: { time: false } },
        axes: [axis({ incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000] }), axis({ values: (_, ticks) => ticks.map(short), size: 76 })],
        series: [
          { label: "answer" },
          { label: "sent", stroke: color("--accent"), width: 2, fill: color("--accent-tint"), value: (_, value) => short(value) },
          { label: "output", stroke: color("--good"), width: 1.5, value: (_, value) => short(value) },
        ],
      }, data);
    },
    usage(figure, told) {
      const times = told.times;
      if (!times.length) return;
      const unit = told.unit === "money" ? (value) => value === null || value === undefined ? "" : `$${(value / 1e6).toFixed(2)}` : short;
      const order = told.series.map((_, number) => number).reverse();
      const stack = (isShown) => {
        const sums = times.map(() => 0);
        const made = told.series.map((series, number) => series.values.map((value, at) => {
          if (isShown(number)) sums[at] += value ?? 0;
          return sums[at];
        }));
        return [times, ...order.map((number) => made[number])];
      };
      const half = told.step / 2;
      const bars = window.uPlot.paths.bars({ size: [0.8, 40] });
      const plot = draw(figure, {
        scales: { x: { range: (_, from, to) => [from - half, to + half] } },
        axes: [axis({ space: 64 }), axis({ values: (_, ticks, __, ___, step) => ticks.map(told.unit === "money" ? (value) => exact(value, step) : unit), size: 76 })],
        series: [
          { label: told.period, value: (_, value) => value ? new Date(value * 1000).toISOString().slice(0, 10) : "" },
          ...order.map((number) => ({
            label: told.series[number].name, stroke: color(palette[number % palette.length]), fill: color(palette[number % palette.length]), width: 0, paths: bars, points: { show: false },
            value: (_, value, __, at) => at === null || at === undefined ? "" : unit(told.series[number].values[at]),
          })),
        ],
        // what is hidden no longer holds up what stands on it
        hooks: { setSeries: [(made, at, change) => { if (at && change.show !== undefined) made.setData(stack((number) => made.series[order.indexOf(number) + 1].show)); }] },
      }, stack(() => true));
      if (!figure.dataset.explain) return;
      let pressed = null;
      plot.over.addEventListener("mousedown", (event) => { pressed = event.clientX; });
      plot.over.addEventListener("click", (event) => {
        const at = plot.cursor.idx;
        if (at === null || at === undefined || pressed === null || Math.abs(event.clientX - pressed) > 3 || event.detail > 1) return;
        clearTimeout(waiting);
        waiting = setTimeout(() => location.assign(figure.dataset.explain + encodeURIComponent(told.keys[at])), 260);
      });
      plot.over.addEventListener("dblclick", () => clearTimeout(waiting));
    },
    columns(figure, told) {
      if (!told.values.length) return;
      const bars = window.uPlot.paths.bars({ size: [0.8, 60] });
      draw(figure, {
        scales: { x: { time: false, range: (_, from, to) => [from - 0.6, to + 0.6] }, y: { range: (_, low, high) => [Math.min(low, 0), high * 1.05 || 1] } },
        axes: [axis({ values: (_, ticks) => ticks.map((at) => { const label = String(told.labels[at] ?? ""); return label.length > 14 ? `…${label.slice(-13)}` : label; }), space: 96, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 5000] }), axis({ values: (_, ticks) => ticks.map(short), size: 76 })],
        series: [
          { label: told.label ?? "", value: (_, at) => told.labels[at] ?? "" },
          { label: told.name ?? "value", stroke: color("--accent"), fill: color("--accent"), width: 0, paths: bars, points: { show: false } },
        ],
      }, [told.values.map((_, at) => at), told.values]);
    },
  };
  async function show(figure) {
    try {
      const told = figure.dataset.values ? JSON.parse(figure.dataset.values) : await (await fetch(figure.dataset.chart)).json();
      if (told.error) throw new Error(told.error.message);
      kinds[figure.dataset.kind](figure, told);
    } catch (problem) {
      figure.textContent = `The chart could not be drawn: ${problem.message}`;
    }
  }
  const showAll = () => document.querySelectorAll("[data-kind]").forEach(show);
  document.addEventListener("DOMContentLoaded", showAll);
  document.addEventListener("themechange", showAll);
  document.addEventListener("htmx:after:swap", showAll);
  let timer = 0;
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth === width) return;
    width = innerWidth;
    clearTimeout(timer);
    timer = setTimeout(showAll, 200);
  });
})();
