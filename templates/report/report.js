
"use strict";
(function () {
  var said = document.getElementById("said");

  function tell(text) {
    said.textContent = "";
    window.setTimeout(function () { said.textContent = text; }, 50);
  }

  function copyBySelection(node) {
    var range = document.createRange();
    range.selectNodeContents(node);
    var selection = window.getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
    try { return document.execCommand("copy"); } catch (error) { return false; }
  }

  function wire(button) {
    var node = document.getElementById(button.getAttribute("data-copies"));
    var label = button.firstChild;
    button.hidden = false;
    button.addEventListener("click", function () {
      function done(worked) {
        label.nodeValue = worked ? "Copied" : "Selected";
        tell(worked ? "Copied" : "Not copied: the text is selected, press Ctrl and C");
        window.setTimeout(function () { label.nodeValue = "Copy"; }, 3000);
      }
      if (navigator.clipboard && window.isSecureContext) {
        navigator.clipboard.writeText(node.textContent).then(
          function () { done(true); }, function () { done(copyBySelection(node)); });
      } else {
        done(copyBySelection(node));
      }
    });
  }

  Array.prototype.forEach.call(document.querySelectorAll("button.copy"), wire);

  function closed() { return document.querySelectorAll("details:not([open])"); }
  function openAll() {
    return Array.prototype.map.call(closed(), function (section) { section.open = true; return section; });
  }

  var all = document.getElementById("open-all");
  var ours = [];
  if (closed().length) { all.hidden = false; }
  all.addEventListener("click", function () {
    if (ours.length) {
      ours.forEach(function (section) { section.open = false; });
      ours = [];
      all.textContent = "Open all sections";
    } else {
      ours = openAll();
      all.textContent = "Close them again";
    }
  });

  var printed = [];
  window.addEventListener("beforeprint", function () { printed = openAll(); });
  window.addEventListener("afterprint", function () {
    printed.forEach(function (section) { section.open = false; });
    printed = [];
  });
})();
