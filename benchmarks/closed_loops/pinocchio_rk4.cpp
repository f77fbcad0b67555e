// Runge-Kutta of order four with Pinocchio's constrained dynamics, all steps in native code.
//
// A model is built from flat arrays (see pinocchio_peer.py), and simulated in joint coordinates with
// q' = v, which all joints used here have. Two ways to the accelerations of a closed mechanism:
//
//   constraintDynamics   sparse Cholesky of the bordered matrix, proximal iterations
//   forwardDynamics      crba, nonLinearEffects, and the rows of the closures that are independent

// Pinocchio asks variants for kinds of joints that are left out below
#define BOOST_VARIANT_USE_RELAXED_GET_BY_DEFAULT

#include <cstring>
#include <memory>
#include <vector>

#include <pinocchio/multibody.hpp>
#include <pinocchio/multibody/joint.hpp>

#include <pinocchio/algorithm/constrained-dynamics.hpp>
#include <pinocchio/algorithm/contact-dynamics.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/energy.hpp>
#include <pinocchio/algorithm/rnea.hpp>

namespace pin = pinocchio;
using Eigen::VectorXd;
using Vector3 = Eigen::Vector3d;
using ConstVector3 = Eigen::Map<const Vector3>;

// the joints that are used and no others, which compiles in half the time
template <typename Scalar, int Options>
struct FewJoints {
  typedef boost::variant<pin::JointModelPX, pin::JointModelPY, pin::JointModelPZ,
                         pin::JointModelRX, pin::JointModelRY, pin::JointModelRZ,
                         pin::JointModelTranslation, pin::JointModelSphericalZYX,
                         pin::JointModelUniversal>
      JointModelVariant;
  typedef boost::variant<pin::JointDataPX, pin::JointDataPY, pin::JointDataPZ,
                         pin::JointDataRX, pin::JointDataRY, pin::JointDataRZ,
                         pin::JointDataTranslation, pin::JointDataSphericalZYX,
                         pin::JointDataUniversal>
      JointDataVariant;
};
typedef pin::ModelTpl<double, 0, FewJoints> Model;
typedef pin::DataTpl<double, 0, FewJoints> Data;

enum Way { CONSTRAINT_DYNAMICS, FORWARD_DYNAMICS };

// a closure as rows along ground axes: second point minus first
struct Rows {
  pin::JointIndex joint[2];
  Vector3 place[2];
  std::vector<int> axes;
};

struct Simulation {
  Model model;
  std::unique_ptr<Data> data;
  std::vector<pin::RigidConstraintModel> closures;
  std::vector<pin::RigidConstraintData> closure_data;
  pin::ProximalSettings proximal;
  std::vector<Rows> rows;
  Eigen::MatrixXd J;
  VectorXd gamma, gap, stiffness, rest, tau;
  double Kp, Kd;
  Way way;

  // accelerations by the way chosen; springs act on the joints
  const VectorXd& accelerations(const VectorXd& q, const VectorXd& v) {
    tau.noalias() = stiffness.cwiseProduct(rest - q);
    if (way == FORWARD_DYNAMICS) return by_rows(q, v);
    return pin::constraintDynamics(model, *data, q, v, tau, closures, closure_data, proximal);
  }

  // M a + J' f = tau - nle with J a = -gamma, gamma being the accelerations of the gaps for a = 0,
  // plus what Baumgarte adds to hold them
  const VectorXd& by_rows(const VectorXd& q, const VectorXd& v) {
    pin::crba(model, *data, q, pin::Convention::WORLD);
    data->M.triangularView<Eigen::StrictlyLower>() =
        data->M.transpose().triangularView<Eigen::StrictlyLower>();
    pin::nonLinearEffects(model, *data, q, v);
    J.setZero();
    Eigen::Index row = 0;
    for (const Rows& closure : rows) {
      Vector3 bias = Vector3::Zero(), between = Vector3::Zero();
      for (int side = 0; side < 2; ++side) {
        const pin::JointIndex joint = closure.joint[side];
        const double sign = side ? 1 : -1;
        const pin::SE3& frame = data->oMi[joint];
        const Vector3 point = joint == 0 ? closure.place[side] : frame.act(closure.place[side]);
        between += sign * point;
        if (joint == 0) continue;
        for (int column = model.idx_vs[joint] + model.nvs[joint] - 1; column >= 0;
             column = data->parents_fromRow[size_t(column)]) {
          const auto motion = data->J.col(column);
          const Vector3 speed = motion.head<3>() + Vector3(motion.tail<3>()).cross(point);
          for (size_t i = 0; i < closure.axes.size(); ++i)
            J(row + Eigen::Index(i), column) += sign * speed[closure.axes[i]];
        }
        // a_gf is the acceleration minus gravity, in the frame of the joint
        const Vector3 w = data->v[joint].angular();
        const Vector3 arm = closure.place[side];
        const Vector3 linear = data->a_gf[joint].linear() + w.cross(data->v[joint].linear())
            + data->a_gf[joint].angular().cross(arm) + w.cross(w.cross(arm));
        bias += sign * (frame.rotation() * linear + model.gravity.linear());
      }
      for (int axis : closure.axes) {
        gap[row] = between[axis];
        gamma[row++] = bias[axis];
      }
    }
    if (Kd > 0) gamma.noalias() += Kd * (J * v) + Kp * gap;
    return pin::forwardDynamics(model, *data, tau, J, gamma, 0.);
  }
};

static pin::JointIndex add_joint(Model& model, pin::JointIndex parent, int kind,
                                 const pin::SE3& placement, const std::string& name) {
  switch (kind) {
    case 0: return model.addJoint(parent, pin::JointModelPX(), placement, name);
    case 1: return model.addJoint(parent, pin::JointModelPY(), placement, name);
    case 2: return model.addJoint(parent, pin::JointModelPZ(), placement, name);
    case 3: return model.addJoint(parent, pin::JointModelRX(), placement, name);
    case 4: return model.addJoint(parent, pin::JointModelRY(), placement, name);
    case 5: return model.addJoint(parent, pin::JointModelRZ(), placement, name);
    case 6: return model.addJoint(parent, pin::JointModelTranslation(), placement, name);
    case 7: return model.addJoint(parent, pin::JointModelSphericalZYX(), placement, name);
    default:
      return model.addJoint(parent, pin::JointModelUniversal(Vector3::UnitX(), Vector3::UnitY()),
                            placement, name);
  }
}

extern "C" {

// joints: parent and kind of each; numbers: offset 3, mass, com 3, central inertia xx yy zz xy xz yz
// closures: joint, joint, bits of the axes; places: two points of each; settings: gravity 3,
// Kp, Kd, accuracy, mu, iterations
Simulation* create(int n_joints, const int* joints, const double* numbers, int n_closures,
                   const int* closures, const double* places, const double* springs,
                   const double* settings, int way) {
  auto* s = new Simulation;
  s->way = Way(way);
  s->Kp = settings[3];
  s->Kd = settings[4];
  for (int i = 0; i < n_joints; ++i) {
    const double* x = numbers + 13 * i;
    const pin::SE3 placement(Eigen::Matrix3d::Identity(), ConstVector3(x));
    const auto joint = add_joint(s->model, pin::JointIndex(joints[2 * i]), joints[2 * i + 1],
                                 placement, "joint" + std::to_string(i + 1));
    Eigen::Matrix3d inertia;
    inertia << x[7], x[10], x[11], x[10], x[8], x[12], x[11], x[12], x[9];
    s->model.appendBodyToJoint(joint, pin::Inertia(x[3], ConstVector3(x + 4), inertia));
  }
  s->model.gravity.linear() = ConstVector3(settings);
  s->data = std::make_unique<Data>(s->model);
  s->proximal = pin::ProximalSettings(settings[5], settings[6], int(settings[7]));
  for (int i = 0; i < n_closures; ++i) {
    const ConstVector3 first(places + 6 * i), second(places + 6 * i + 3);
    const int* c = closures + 3 * i;
    const pin::SE3 one(Eigen::Matrix3d::Identity(), first);
    const pin::SE3 two(Eigen::Matrix3d::Identity(), second);
    s->closures.emplace_back(pin::CONTACT_3D, s->model, pin::JointIndex(c[0]), one,
                             pin::JointIndex(c[1]), two, pin::LOCAL);
    auto& corrector = s->closures.back().baumgarte_corrector_parameters();
    corrector.Kp = s->Kp;
    corrector.Kd = s->Kd;
    s->closure_data.emplace_back(s->closures.back());
    Rows rows{{pin::JointIndex(c[0]), pin::JointIndex(c[1])}, {first, second}, {}};
    for (int axis = 0; axis < 3; ++axis)
      if (c[2] >> axis & 1) rows.axes.push_back(axis);
    s->rows.push_back(rows);
  }
  pin::initConstraintDynamics(s->model, *s->data, s->closures, s->closure_data);
  Eigen::Index count = 0;
  for (const Rows& rows : s->rows) count += Eigen::Index(rows.axes.size());
  s->J = Eigen::MatrixXd::Zero(count, s->model.nv);
  s->gamma = s->gap = VectorXd::Zero(count);
  s->tau = VectorXd::Zero(s->model.nv);
  s->stiffness = Eigen::Map<const VectorXd>(springs, s->model.nv);
  s->rest = Eigen::Map<const VectorXd>(springs + s->model.nv, s->model.nv);
  return s;
}

void destroy(Simulation* s) { delete s; }

int coordinates(Simulation* s) { return s->model.nq == s->model.nv ? s->model.nv : -1; }

void accelerations(Simulation* s, const double* q, const double* v, double* a) {
  const Eigen::Index n = s->model.nv;
  const VectorXd found = s->accelerations(Eigen::Map<const VectorXd>(q, n),
                                          Eigen::Map<const VectorXd>(v, n));
  std::memcpy(a, found.data(), size_t(n) * sizeof(double));
}

void energy(Simulation* s, const double* q, const double* v, double* potential_and_kinetic) {
  const VectorXd position = Eigen::Map<const VectorXd>(q, s->model.nv);
  const VectorXd speed = Eigen::Map<const VectorXd>(v, s->model.nv);
  const double springs = s->stiffness.dot((position - s->rest).cwiseAbs2()) / 2;
  potential_and_kinetic[0] = pin::computePotentialEnergy(s->model, *s->data, position) + springs;
  potential_and_kinetic[1] = pin::computeKineticEnergy(s->model, *s->data, position, speed);
}

// steps of length h from (q, v), which end as the last state; every stride-th goes to the samples
void simulate(Simulation* s, double h, int steps, int stride, double* q, double* v,
              double* q_samples, double* v_samples) {
  const Eigen::Index n = s->model.nv;
  VectorXd x = Eigen::Map<VectorXd>(q, n), y = Eigen::Map<VectorXd>(v, n);
  VectorXd k1(n), k2(n), k3(n), k4(n), y2(n), y3(n), y4(n), at(n);
  for (int step = 0; step < steps; ++step) {
    k1 = s->accelerations(x, y);
    at.noalias() = x + h / 2 * y;
    y2.noalias() = y + h / 2 * k1;
    k2 = s->accelerations(at, y2);
    at.noalias() = x + h / 2 * y2;
    y3.noalias() = y + h / 2 * k2;
    k3 = s->accelerations(at, y3);
    at.noalias() = x + h * y3;
    y4.noalias() = y + h * k3;
    k4 = s->accelerations(at, y4);
    x.noalias() += h / 6 * (y + 2 * (y2 + y3) + y4);
    y.noalias() += h / 6 * (k1 + 2 * (k2 + k3) + k4);
    if (stride > 0 && (step + 1) % stride == 0) {
      const size_t row = size_t((step + 1) / stride - 1) * size_t(n);
      std::memcpy(q_samples + row, x.data(), size_t(n) * sizeof(double));
      std::memcpy(v_samples + row, y.data(), size_t(n) * sizeof(double));
    }
  }
  Eigen::Map<VectorXd>(q, n) = x;
  Eigen::Map<VectorXd>(v, n) = y;
}

}
