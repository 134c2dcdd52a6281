// Sorts the matrix by the column whose head is chosen. Without this the page reads the same, in order of names.
(() => {
  const rank = { y: 0, p: 1, x: 2, r: 3, u: 4, e: 0, w: 1, i: 2 };
  const table = document.querySelector(".matrix table");
  if (!table) return;
  const heads = [...table.tHead.rows[1].cells], body = table.tBodies[0];
  const value = (row, at) => {
    const cell = row.cells[at], kind = cell.className.split(" ")[0];
    if (kind in rank) return rank[kind];
    const text = cell.textContent;
    return text === "" ? 9 : kind === "n" ? -Number(text) : text.toLowerCase();
  };
  const sort = (at) => {
    const up = heads[at].getAttribute("aria-sort") !== "ascending";
    heads.forEach((head) => head.removeAttribute("aria-sort"));
    heads[at].setAttribute("aria-sort", up ? "ascending" : "descending");
    const keyed = [...body.rows].map((row, place) => [value(row, at), place, row]);
    keyed.sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0) * (up ? 1 : -1) || a[1] - b[1]);
    body.append(...keyed.map((one) => one[2]));
  };
  heads.forEach((head, at) => {
    head.tabIndex = 0;
    head.addEventListener("click", () => sort(at));
    head.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") { event.preventDefault(); sort(at); }
    });
  });
})();
