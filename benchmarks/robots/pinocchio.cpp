// Pinocchio's dynamics of a tree of joints, called from native code: the peer of benchmarks/robots.

// Pinocchio asks variants for kinds of joints that are left out below
#define BOOST_VARIANT_USE_RELAXED_GET_BY_DEFAULT

#include <string>

#include <pinocchio/multibody.hpp>
#include <pinocchio/multibody/joint.hpp>

#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>
#include <pinocchio/algorithm/rnea.hpp>

namespace pin = pinocchio;

// the joints that are used and no others, which compiles in half the time
template <typename Scalar, int Options>
struct FewJoints {
  typedef boost::variant<pin::JointModelRX, pin::JointModelRY, pin::JointModelRZ,
                         pin::JointModelFreeFlyer>
      JointModelVariant;
  typedef boost::variant<pin::JointDataRX, pin::JointDataRY, pin::JointDataRZ,
                         pin::JointDataFreeFlyer>
      JointDataVariant;
};
typedef pin::ModelTpl<double, 0, FewJoints> Model;
typedef pin::DataTpl<double, 0, FewJoints> Data;
typedef Eigen::Matrix<double, 3, 3, Eigen::RowMajor> Rows3;
typedef Eigen::Map<const Eigen::VectorXd> In;
typedef Eigen::Map<Eigen::VectorXd> Out;
typedef Eigen::Map<Eigen::Matrix<double, -1, -1, Eigen::RowMajor>> OutRows;

static Model* model = nullptr;
static Data* data = nullptr;

// n joints: parent (0 is the ground), kind (an axis, or 3 for a joint that is free), and 25 numbers:
// place (3 + 9 by rows), mass, centre (3), inertia (9) of the body
extern "C" void create(int n, const int* parent, const int* kind, const double* numbers,
                       const double* gravity) {
  delete data;
  delete model;
  model = new Model();
  model->gravity.linear() = Eigen::Vector3d(gravity[0], gravity[1], gravity[2]);
  for (int k = 0; k < n; ++k) {
    const double* x = numbers + 25 * k;
    const Rows3 R = Eigen::Map<const Rows3>(x + 3);
    const Rows3 I = Eigen::Map<const Rows3>(x + 16);
    const pin::SE3 place(R, Eigen::Vector3d(x[0], x[1], x[2]));
    const std::string name = std::to_string(k);
    int j;
    if (kind[k] == 0)
      j = model->addJoint(parent[k], pin::JointModelRX(), place, name);
    else if (kind[k] == 1)
      j = model->addJoint(parent[k], pin::JointModelRY(), place, name);
    else if (kind[k] == 2)
      j = model->addJoint(parent[k], pin::JointModelRZ(), place, name);
    else
      j = model->addJoint(parent[k], pin::JointModelFreeFlyer(), place, name);
    const pin::Inertia body(x[12], Eigen::Vector3d(x[13], x[14], x[15]), I);
    model->appendBodyToJoint(j, body, pin::SE3::Identity());
  }
  data = new Data(*model);
}

extern "C" void inverse(const double* q, const double* v, const double* a, double* tau) {
  const int n = model->nv;
  Out(tau, n) = pin::rnea(*model, *data, In(q, model->nq), In(v, n), In(a, n));
}

extern "C" void forward(const double* q, const double* v, const double* tau, double* a) {
  const int n = model->nv;
  Out(a, n) = pin::aba(*model, *data, In(q, model->nq), In(v, n), In(tau, n));
}

extern "C" void mass(const double* q, double* M) {
  const int n = model->nv;
  OutRows(M, n, n) = pin::crba(*model, *data, In(q, model->nq));
}

extern "C" void inverse_derivatives(const double* q, const double* v, const double* a,
                                    double* by_q, double* by_v, double* M) {
  const int n = model->nv;
  pin::computeRNEADerivatives(*model, *data, In(q, model->nq), In(v, n), In(a, n));
  OutRows(by_q, n, n) = data->dtau_dq;
  OutRows(by_v, n, n) = data->dtau_dv;
  OutRows(M, n, n) = data->M;
}

extern "C" void forward_derivatives(const double* q, const double* v, const double* tau,
                                    double* a, double* by_q, double* by_v, double* by_tau) {
  const int n = model->nv;
  pin::computeABADerivatives(*model, *data, In(q, model->nq), In(v, n), In(tau, n));
  Out(a, n) = data->ddq;
  OutRows(by_q, n, n) = data->ddq_dq;
  OutRows(by_v, n, n) = data->ddq_dv;
  OutRows(by_tau, n, n) = data->Minv;
}
