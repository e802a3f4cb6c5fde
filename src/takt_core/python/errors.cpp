// SPDX-License-Identifier: Apache-2.0
#include "errors.hpp"

#include <nanobind/stl/string.h>

#include <exception>
#include <system_error>

#include "takt/sched/error.hpp"

namespace nb = nanobind;

namespace takt {

nb::object text(const std::string& bytes) {
  return nb::steal(
      PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "replace"));
}

namespace {

void translate(const std::exception_ptr& thrown, void* type) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    const nb::handle raised_type{static_cast<PyObject*>(type)};
    const nb::object raised = raised_type(text(error.what()));
    raised.attr("where") = text(error.where());
    raised.attr("problem") = text(error.problem());
    raised.attr("fix") = text(error.fix());
    raised.attr("path") = text(error.path());
    PyErr_SetObject(raised_type.ptr(), raised.ptr());
  } catch (const std::system_error& error) {
    PyErr_SetObject(PyExc_OSError, nb::make_tuple(error.code().value(), error.what()).ptr());
  }
}

}  // namespace

void bind_errors(nb::module_& module) {
  PyObject* const type = PyErr_NewExceptionWithDoc(
      "takt_core.Error",
      "What the core refuses: where, problem, fix and path, all texts (takt/sched/error.hpp).",
      PyExc_ValueError, nullptr);
  module.attr("Error") = nb::steal(type);
  nb::register_exception_translator(&translate, type);
}

}  // namespace takt
