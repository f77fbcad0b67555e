// Forward dynamics of a closed mechanism by Pinocchio's algorithms, a state a call: the peer of
// benchmarks/robot_loops.py.  The model is that of closed_loops/pinocchio_rk4.cpp.
//
//   constraint_dynamics   sparse Cholesky of the bordered matrix, proximal iterations
//   loop_aba              articulated bodies with local elimination of the loops, likewise

#include "closed_loops/pinocchio_rk4.cpp"

#include <pinocchio/algorithm/loop-constrained-aba.hpp>

typedef Eigen::Map<const VectorXd> In;
typedef Eigen::Map<VectorXd> Out;

static Simulation* one = nullptr;

extern "C" {

// the order in which loop_aba eliminates the joints, once for a simulation
void order(Simulation* s) { pin::computeJointMinimalOrdering(s->model, *s->data, s->closures); }

// the simulation that is asked from now on
void choose(Simulation* s) { one = s; }

void constraint_dynamics(const double* q, const double* v, const double* tau, double* a) {
  const Eigen::Index n = one->model.nv;
  Out(a, n) = pin::constraintDynamics(one->model, *one->data, In(q, n), In(v, n), In(tau, n),
                                      one->closures, one->closure_data, one->proximal);
}

void loop_aba(const double* q, const double* v, const double* tau, double* a) {
  const Eigen::Index n = one->model.nv;
  Out(a, n) = pin::lcaba(one->model, *one->data, In(q, n), In(v, n), In(tau, n), one->closures,
                         one->closure_data, one->proximal);
}
}
