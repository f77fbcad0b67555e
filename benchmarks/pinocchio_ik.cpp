// Damped least squares on Pinocchio's kinematics of an arm of seven joints, all poses in native
// code: joints clipped to their limits, restarts from a table of starts.

// Pinocchio asks variants for kinds of joints that are left out below
#define BOOST_VARIANT_USE_RELAXED_GET_BY_DEFAULT

#include <cmath>
#include <string>

#include <pinocchio/multibody.hpp>
#include <pinocchio/multibody/joint.hpp>

#include <pinocchio/algorithm/jacobian.hpp>
#include <pinocchio/algorithm/kinematics.hpp>

namespace pin = pinocchio;

// the joints that are used and no others, which compiles in half the time
template <typename Scalar, int Options>
struct FewJoints {
  typedef boost::variant<pin::JointModelRZ> JointModelVariant;
  typedef boost::variant<pin::JointDataRZ> JointDataVariant;
};
typedef pin::ModelTpl<double, 0, FewJoints> Model;
typedef pin::DataTpl<double, 0, FewJoints> Data;
typedef Eigen::Matrix<double, 6, 1> Vector6;
typedef Eigen::Matrix<double, 7, 1> Vector7;
typedef Eigen::Matrix<double, 6, 7> Matrix67;
typedef Eigen::Matrix<double, 6, 6> Matrix6;
typedef Eigen::Matrix<double, 3, 3, Eigen::RowMajor> Rows3;

// what all attempts share
struct Settings {
  double tolerance, damping, slow;
  int iterations, patience;
};

// one attempt; whether it ends within the tolerance
static bool descend(const Model& model, Data& data, const pin::SE3& target, const pin::SE3& flange,
                    const Vector7& lower, const Vector7& upper, const Settings& s,
                    Eigen::VectorXd& q, Matrix67& J, long long& count) {
  double before = INFINITY;
  int slow = 0;
  for (int k = 0; k < s.iterations; ++k) {
    pin::computeJointJacobians(model, data, q);
    const pin::SE3 hand = data.oMi[7] * flange;
    Vector6 e;
    e.head<3>() = hand.translation() - target.translation();
    e.tail<3>() = pin::log3(hand.rotation() * target.rotation().transpose());
    ++count;
    const double size = e.norm();
    if (size <= s.tolerance) return true;
    slow = size > s.slow * before ? slow + 1 : 0;
    if (slow >= s.patience) return false;
    before = size;
    // columns of data.J are twists at the origin of the ground
    J = data.J;
    for (int j = 0; j < 7; ++j)
      J.col(j).head<3>() += J.col(j).tail<3>().cross(hand.translation());
    Matrix6 G;
    G.noalias() = J * J.transpose();
    G.diagonal().array() += s.damping * size * size + 1e-16;
    q.noalias() -= J.transpose() * G.ldlt().solve(e);
    q = q.cwiseMax(lower).cwiseMin(upper);
  }
  return false;
}

extern "C" {

// placements: of each joint and of the flange, 12 numbers each (place, rotation by rows);
// poses: 12 numbers each; limits: lower 7, upper 7; starts: first the one tried first;
// settings: tolerance, damping, slow, iterations, patience. Counts: evaluations and restarts.
int solve_all(int n, const double* poses, const double* placements, const double* limits,
              int n_starts, const double* starts, const double* settings, double* q_found,
              int* solved, long long* counts) {
  const auto pose = [](const double* x) {
    return pin::SE3(Eigen::Map<const Rows3>(x + 3), Eigen::Map<const Eigen::Vector3d>(x));
  };
  Model model;
  pin::JointIndex joint = 0;
  for (int i = 0; i < 7; ++i)
    joint = model.addJoint(joint, pin::JointModelRZ(), pose(placements + 12 * i),
                           "joint" + std::to_string(i + 1));
  Data data(model);
  const pin::SE3 flange = pose(placements + 12 * 7);
  const Vector7 lower = Eigen::Map<const Vector7>(limits);
  const Vector7 upper = Eigen::Map<const Vector7>(limits + 7);
  const Settings s{settings[0], settings[1], settings[2], int(settings[3]), int(settings[4])};
  Eigen::VectorXd q(7);
  Matrix67 J;
  int total = 0;
  counts[0] = counts[1] = 0;
  for (int i = 0; i < n; ++i) {
    const pin::SE3 target = pose(poses + 12 * i);
    solved[i] = 0;
    for (int attempt = 0; attempt < n_starts && !solved[i]; ++attempt) {
      q = Eigen::Map<const Vector7>(starts + 7 * attempt).cwiseMax(lower).cwiseMin(upper);
      if (attempt) ++counts[1];
      solved[i] = descend(model, data, target, flange, lower, upper, s, q, J, counts[0]);
    }
    Eigen::Map<Vector7>(q_found + 7 * i) = q;
    total += solved[i];
  }
  return total;
}

}
